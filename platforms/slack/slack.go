// Package slack connects nod to a Slack workspace through Socket Mode or
// signed HTTP requests.
//
// The package decodes interaction payloads itself. The SDK drops a whole click
// if the message contains an element type that it does not know, and it cannot
// distinguish an input that was left empty from one that was not shown.
//
// The package calls Slack and receives its callbacks. The sink applies clicks,
// and package slackmsg builds messages and modals.
package slack

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// Options configures a workspace.
type Options struct {
	Name          string
	BotToken      string // xoxb-
	AppToken      string // xapp-; set for Socket Mode
	SigningSecret string // set for HTTP mode, and only if AppToken is empty
	APIURL        string // with a trailing slash; if empty, Slack's own
	HTTPClient    *http.Client
	NoPacing      bool // send without delay until Slack limits the rate
	// Turns shares the rate limits with other daemons. If it is nil, nothing
	// is delayed.
	Turns bridge.Turns
	// Console means that the console is on. People can use it to answer
	// requests that no dialog can show. Without the console, nod refuses such a
	// request on opening.
	Console    bool
	ConsoleURL string // URL of nod; empty if it is not known
	// Daemons returns the number of daemons that receive events for this app.
	// If it is nil, there is one daemon.
	Daemons func(context.Context) (int, error)
	Log     *slog.Logger
}

// Platform is one Slack workspace. It implements bridge.Platform. Its parts
// implement the other ports of package bridge.
type Platform struct {
	poster
	ephemeral
	people
	doctor

	ws     *workspace
	secret string // empty in Socket Mode
}

var (
	_ bridge.Platform        = (*Platform)(nil)
	_ bridge.HealthReporter  = (*Platform)(nil)
	_ bridge.Threader        = (*Platform)(nil)
	_ bridge.SteeringNoter   = (*Platform)(nil)
	_ bridge.Notifier        = (*Platform)(nil)
	_ bridge.Grouper         = (*Platform)(nil)
	_ bridge.MemberLister    = (*Platform)(nil)
	_ bridge.AccountMatcher  = (*Platform)(nil)
	_ bridge.EmailResolver   = (*Platform)(nil)
	_ bridge.ReminderPoster  = (*Platform)(nil)
	_ bridge.Linker          = (*Platform)(nil)
	_ bridge.Mentioner       = (*Platform)(nil)
	_ bridge.DirectMessenger = (*Platform)(nil)
	_ bridge.Diagnoser       = (*Platform)(nil)
)

// New returns a workspace. It makes no network calls.
func New(o Options) (*Platform, error) {
	switch {
	case o.BotToken == "":
		return nil, bridge.Errorf(bridge.CodeInvalid, "slack: bot_token: required").
			WithHint("set SLACK_BOT_TOKEN to the token that starts with xoxb-")
	case (o.AppToken == "") == (o.SigningSecret == ""):
		return nil, bridge.Errorf(bridge.CodeInvalid,
			"slack: exactly one of app_token (Socket Mode) and signing_secret (HTTP mode) is required")
	}
	ws := newWorkspace(o)
	homes := newPages()
	return &Platform{
		poster:    poster{ws, &lost{workspace: ws, posts: map[mark]period{}}, homes, newNatives(ws)},
		ephemeral: ephemeral{ws}, people: people{ws},
		doctor: doctor{workspace: ws, clock: cmp.Or(o.APIURL, slack.APIURL) + "api.test", socketMode: o.AppToken != ""},
		ws:     ws, secret: o.SigningSecret,
	}, nil
}

func newWorkspace(o Options) *workspace {
	ws := &workspace{
		name: o.Name, http: o.HTTPClient, log: o.Log, console: o.Console, consoleURL: o.ConsoleURL, daemons: o.Daemons,
	}
	if ws.http == nil {
		ws.http = platforms.Client(platforms.CallTimeout)
	}
	if ws.log == nil {
		ws.log = slog.New(slog.DiscardHandler)
	}
	ws.health.Log = ws.log.With("platform", o.Name)
	ws.posts, ws.edits = newPacers(o, ws.log)
	opts := []slack.Option{slack.OptionHTTPClient(ws.http)}
	if o.AppToken != "" {
		opts = append(opts, slack.OptionAppLevelToken(o.AppToken))
	}
	if o.APIURL != "" {
		opts = append(opts, slack.OptionAPIURL(o.APIURL))
	}
	ws.api = slack.New(o.BotToken, opts...)
	return ws
}

// newPacers returns the pacers of chat.postMessage and of chat.update. The
// first method accepts about one call per second and channel, with short
// bursts, and several hundred per minute in total. The second accepts 50 per
// minute in total. A refusal applies to the method, regardless of the channel:
// docs.slack.dev/apis/web-api/rate-limits.
func newPacers(o Options, log *slog.Logger) (posts, edits *platforms.Pacer) {
	pace := platforms.Pace{
		Platform: o.Name, Turns: o.Turns, Off: o.NoPacing, Log: log,
		Channel: []bridge.Limit{{Line: "post ", Calls: 5, Period: 5 * time.Second, Steady: true}},
		All:     []bridge.Limit{{Line: "posts", Calls: 600, Period: time.Minute}},
		Wide:    true,
	}
	posts = platforms.NewPacer(pace)
	pace.Channel, pace.All, pace.Wide = []bridge.Limit{{Line: "edits", Calls: 50, Period: time.Minute}}, nil, false
	return posts, platforms.NewPacer(pace)
}

// Name implements bridge.Platform.
func (p *Platform) Name() string { return p.ws.name }

// Health implements bridge.HealthReporter.
func (p *Platform) Health() bridge.Health { return p.ws.health.Get() }

// Link implements bridge.Linker.
func (p *Platform) Link(ctx context.Context, ref bridge.MessageRef) string {
	return slackmsg.Link(p.ws.url(ctx), ref)
}

// Run implements bridge.Platform.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error {
	if p.secret == "" {
		in := socket{workspace: p.ws, in: p.inbound(sink), rivals: &rivals{workspace: p.ws}, lanes: &platforms.Lanes{}}
		return p.keepHomes(ctx, sink, in.run)
	}
	return p.keepHomes(ctx, sink, func(ctx context.Context) error {
		return platforms.Watch(ctx, &p.ws.health, p.ws.check)
	})
}

// keepHomes keeps the Home tabs up to date while run runs.
func (p *Platform) keepHomes(ctx context.Context, sink bridge.Sink, run func(context.Context) error) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { p.inbound(sink).home.keep(ctx) })
	return run(ctx)
}

// Handler serves the request URL of HTTP mode. In Socket Mode, it refuses every
// request.
func (p *Platform) Handler(sink bridge.Sink) http.Handler {
	if p.secret == "" {
		return http.NotFoundHandler()
	}
	return endpoint{p.ws, p.inbound(sink), p.secret}
}

// inbound returns the receiver of Slack's events. It passes clicks to the sink.
func (p *Platform) inbound(sink bridge.Sink) inbound {
	return inbound{
		workspace: p.ws, sink: sink, cards: p.poster, replies: p.ephemeral,
		forms: forms{p.ws, sink}, commands: commands{p.ws, sink}, home: home{p.ws, sink, p.homes},
	}
}
