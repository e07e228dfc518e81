package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

const (
	ana = "U0ANA00001"
	bo  = "U0BO000002"
)

// desk is an emulator with slack-go as the bot.
type desk struct {
	t   *testing.T
	hub *core.Hub
	e   *slack.Emulator
	url string
	api *slackgo.Client
}

func newDesk(t *testing.T, o slack.Options, limits bool) *desk {
	t.Helper()
	hub := core.NewHub(!limits)
	hub.Clock = core.NewClock()
	e := slack.New(hub, []core.Account{{Key: "ana", Name: "Ana Lima", ID: ana}, {Key: "bo", Name: "Bo Chen", ID: bo}}, o)
	server := httptest.NewServer(e)
	t.Cleanup(func() { hub.Close(); server.CloseClientConnections(); server.Close() })
	return &desk{t, hub, e, server.URL, bot(server.URL, slack.BotToken, slack.AppToken)}
}

func bot(url, token, appToken string) *slackgo.Client {
	return slackgo.New(token, slackgo.OptionAPIURL(url+"/slack/api/"), slackgo.OptionAppLevelToken(appToken))
}

// refused fails unless a call ended with an error of the API.
func (d *desk) refused(code string, err error) {
	d.t.Helper()
	answer, ok := errors.AsType[slackgo.SlackErrorResponse](err)
	if !ok || answer.Err != code {
		d.t.Errorf("got %v, want %s", err, code)
	}
}

func (d *desk) fault(f core.Fault) {
	f.Service = slack.Name
	d.hub.AddFault(f)
}

// post posts a message and returns its place.
func (d *desk) post(options ...slackgo.MsgOption) core.Place {
	d.t.Helper()
	channel, ts, err := d.api.PostMessageContext(d.t.Context(), slack.Channel, options...)
	if err != nil {
		d.t.Fatal(err)
	}
	return core.Place{Service: slack.Name, Channel: channel, Message: ts}
}

func (d *desk) act(a core.Action) core.Reaction {
	d.t.Helper()
	r, err := d.e.Act(d.t.Context(), a)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// connect runs a Socket Mode client that answers every payload, until the test
// ends.
func (d *desk) connect(answer func(kind socketmode.EventType, payload json.RawMessage) any) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	client := socketmode.New(d.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.RunContext(ctx) }()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-client.Events:
				if e.Request != nil && e.Request.EnvelopeID != "" {
					_ = client.Ack(*e.Request, answer(e.Type, e.Request.Payload))
				}
			}
		}
	}()
	d.t.Cleanup(func() { cancel(); d.hub.Close(); <-ended })
	d.within("a socket", func() bool { return d.connections() > 0 })
}

func (d *desk) connections() int {
	d.hub.Lock()
	defer d.hub.Unlock()
	return d.e.State().Connections
}

func (d *desk) within(what string, ok func() bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Second)
	defer cancel()
	if d.hub.Wait(ctx, ok) != nil {
		d.t.Fatal("not in time:", what)
	}
}

func plain(text string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, text, false, false)
}

func button(id, label string) *slackgo.ButtonBlockElement {
	return slackgo.NewButtonBlockElement(id, "value of "+id, plain(label))
}

func options(values ...string) []*slackgo.OptionBlockObject {
	var out []*slackgo.OptionBlockObject
	for _, v := range values {
		out = append(out, slackgo.NewOptionBlockObject(v, plain("Label "+v), nil))
	}
	return out
}

func modal(blocks ...slackgo.Block) slackgo.ModalViewRequest {
	return slackgo.ModalViewRequest{
		Type: slackgo.VTModal, Title: plain("Form"), Submit: plain("Send"), Blocks: slackgo.Blocks{BlockSet: blocks},
	}
}

func input(id string, element slackgo.BlockElement) *slackgo.InputBlock {
	return slackgo.NewInputBlock(id, plain("Field "+id), nil, element)
}

func labels(controls []core.Control) []string {
	var out []string
	for _, c := range controls {
		out = append(out, c.Label)
	}
	slices.Sort(out)
	return out
}
