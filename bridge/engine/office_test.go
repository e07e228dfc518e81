package engine

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// chat is a platform that does what a test tells it to.
type chat struct {
	mu       sync.Mutex
	name     string
	errs     []error         // of the next calls; if empty, they succeed
	takes    []time.Duration // by the next posts; if empty, none
	each     time.Duration   // that each post takes
	parts    int             // sent before each post
	health   bridge.Health
	posts    []bridge.Destination
	views    []bridge.View // posted and updated
	sent     [][]bridge.MessageRef
	reminded []bridge.Reminder
	threads  int
	check    error
	checks   int
	received func(context.Context) error // Run
}

func (c *chat) Name() string { return c.name }

func (c *chat) Check(bridge.Interaction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks++
	return c.check
}

func (c *chat) Health() bridge.Health { return c.health }

func (c *chat) Run(ctx context.Context, _ bridge.Sink) error {
	if c.received != nil {
		return c.received(ctx)
	}
	<-ctx.Done()
	return nil
}

// fails returns the error of this call.
func (c *chat) fails() error {
	if len(c.errs) == 0 {
		return nil
	}
	err := c.errs[0]
	c.errs = c.errs[1:]
	return err
}

func (c *chat) Post(
	ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts,
) (bridge.MessageRef, error) {
	time.Sleep(c.each)
	c.mu.Lock()
	if len(c.takes) > 0 {
		takes := c.takes[0]
		c.takes = c.takes[1:]
		c.mu.Unlock()
		time.Sleep(takes)
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	c.sent = append(c.sent, slices.Clone(parts.Sent()))
	for n := len(parts.Sent()); n < c.parts; n++ {
		if err := parts.Add(ctx, bridge.MessageRef{Channel: d.Channel, Message: "part " + strconv.Itoa(n)}); err != nil {
			return bridge.MessageRef{}, err
		}
	}
	if err := c.fails(); err != nil {
		return bridge.MessageRef{}, err
	}
	c.posts, c.views = append(c.posts, d), append(c.views, v)
	return bridge.MessageRef{Channel: d.Channel, Message: strconv.Itoa(len(c.posts))}, nil
}

func (c *chat) Update(_ context.Context, _ bridge.MessageRef, v bridge.View, _ *bridge.Parts) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(); err != nil {
		return err
	}
	c.views = append(c.views, v)
	return nil
}

func (c *chat) Remind(_ context.Context, _ bridge.Destination, _ bridge.MessageRef, r bridge.Reminder) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(); err != nil {
		return err
	}
	c.reminded = append(c.reminded, r)
	return nil
}

func (c *chat) Thread(
	_ context.Context, d bridge.Destination, first bridge.MessageRef, _ string,
) (bridge.Destination, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(); err != nil {
		return d, err
	}
	c.threads++
	d.Thread = first.Message
	return d, nil
}

// office is the parts of an engine on a fake store.
type office struct {
	*Engine
	t     *testing.T
	store *fake
	log   *log
	chat  *chat
	keys  bridge.Keyring
}

// newOffice returns an office with one route, named default, to channel C of
// the platform chat; ana and bo may answer. Options change it.
func newOffice(t *testing.T, change ...func(*Options)) *office {
	t.Helper()
	keys, err := bridge.NewKeyring(make([]byte, bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	o := &office{t: t, store: newFake(), log: &log{}, chat: &chat{name: "chat"}, keys: keys}
	options := Options{
		Keys: keys, Platforms: []bridge.Platform{o.chat}, Node: "here",
		Routes: map[string]bridge.Route{bridge.DefaultRoute: {
			Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}},
			Responders:   []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}, {Person: "bo", Platform: "chat", User: "U-bo"}},
		}},
	}
	for _, f := range change {
		f(&options)
	}
	options.Store = union{o.store, o.log, rest{}}
	o.Engine = New(options)
	return o
}

// union is the ports that the fakes have. The others are nil, and a part that
// calls one of them fails its test.
type union struct {
	*fake
	*log
	rest
}

type rest struct{ bridge.Store }

// No session is reported.
func (union) Reported(context.Context, string, string) (s bridge.SessionStatus, known bool, err error) {
	return s, false, nil
}

func (union) Draft(context.Context, bridge.ID, int, bridge.Actor) (mine, shown *bridge.Draft, err error) {
	return nil, nil, nil
}
func (union) SaveDraft(context.Context, bridge.ID, int, bridge.Draft) error { return nil }

// question is a question to ana and bo in channel C of a session.
func question(prompt string) bridge.Interaction {
	var i bridge.Interaction
	i.Kind, i.Prompt, i.Agent, i.Session = bridge.KindAsk, prompt, "ci", "s"
	i.Questions = []bridge.Question{{ID: "q", Widget: bridge.WidgetConfirm}}
	i.Destinations = []bridge.Destination{{Platform: "chat", Channel: "C"}}
	i.Responders = []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}, {Person: "bo", Platform: "chat", User: "U-bo"}}
	i.Created, i.Deadline = time.Now(), time.Now().Add(time.Hour)
	i.Round, i.MaxRounds = 1, 3
	return i
}

// outcomes checks what became of the jobs so far.
func (o *office) outcomes(want ...string) {
	o.t.Helper()
	if got := o.store.outcomes(); !slices.Equal(got, want) {
		o.t.Errorf("the jobs ended as %q; want %q", got, want)
	}
}

// log keeps the entries of the audit log.
type log struct {
	mu      sync.Mutex
	entries []bridge.AuditEntry
	refuses error
}

func (l *log) Audit(_ context.Context, a bridge.AuditEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses == nil {
		l.entries = append(l.entries, a)
	}
	return l.refuses
}

// types are the types of the entries, in order.
func (l *log) types() []bridge.AuditType {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []bridge.AuditType
	for _, a := range l.entries {
		out = append(out, a.Type)
	}
	return out
}
