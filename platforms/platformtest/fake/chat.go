package fake

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Chat is a platform that a test controls.
type Chat struct {
	mu       sync.Mutex
	As       string
	Errs     []error         // errors of the next calls; if empty, they succeed
	Picky    error           // error of all calls with the text of a request
	Takes    []time.Duration // durations of the next posts; if empty, they take no time
	Each     time.Duration   // duration of each post
	Parts    int             // number of parts sent before each post
	State    bridge.Health
	Posts    []bridge.Destination
	Views    []bridge.View // views that were posted and updated
	Sent     [][]bridge.MessageRef
	Reminded []bridge.Reminder
	Threads  int
	Refuses  error
	Checks   int
	Received func(context.Context) error // Run
}

func (c *Chat) Name() string { return c.As }

func (c *Chat) Check(bridge.Interaction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Checks++
	return c.Refuses
}

func (c *Chat) Health() bridge.Health { return c.State }

func (c *Chat) Run(ctx context.Context, _ bridge.Sink) error {
	if c.Received != nil {
		return c.Received(ctx)
	}
	<-ctx.Done()
	return nil
}

// fails returns the error of this call.
func (c *Chat) fails(v bridge.View) error {
	if c.Picky != nil && !v.Withheld {
		return c.Picky
	}
	if len(c.Errs) == 0 {
		return nil
	}
	err := c.Errs[0]
	c.Errs = c.Errs[1:]
	return err
}

func (c *Chat) Post(
	ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts,
) (bridge.MessageRef, error) {
	time.Sleep(c.Each)
	c.mu.Lock()
	if len(c.Takes) > 0 {
		takes := c.Takes[0]
		c.Takes = c.Takes[1:]
		c.mu.Unlock()
		time.Sleep(takes)
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	c.Sent = append(c.Sent, slices.Clone(parts.Sent()))
	for n := len(parts.Sent()); n < c.Parts; n++ {
		if err := parts.Add(ctx, bridge.MessageRef{Channel: d.Channel, Message: "part " + strconv.Itoa(n)}); err != nil {
			return bridge.MessageRef{}, err
		}
	}
	if err := c.fails(v); err != nil {
		return bridge.MessageRef{}, err
	}
	c.Posts, c.Views = append(c.Posts, d), append(c.Views, v)
	return bridge.MessageRef{Channel: d.Channel, Message: strconv.Itoa(len(c.Posts))}, nil
}

func (c *Chat) Update(_ context.Context, _ bridge.MessageRef, v bridge.View, _ *bridge.Parts) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(v); err != nil {
		return err
	}
	c.Views = append(c.Views, v)
	return nil
}

func (c *Chat) Remind(_ context.Context, _ bridge.Destination, _ bridge.MessageRef, r bridge.Reminder) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(bridge.View{Withheld: true}); err != nil {
		return err
	}
	c.Reminded = append(c.Reminded, r)
	return nil
}

func (c *Chat) Thread(
	_ context.Context, d bridge.Destination, first bridge.MessageRef, _ string,
) (bridge.Destination, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(bridge.View{Withheld: true}); err != nil {
		return d, err
	}
	c.Threads++
	d.Thread = first.Message
	return d, nil
}

// Talker is a chat that can mention people and mentionable groups.
type Talker struct {
	*Chat
	Directs bool
	Quiet   bool // mentions of groups notify no one
}

func (p Talker) Direct(d bridge.Destination) bool {
	return p.Directs || strings.HasPrefix(d.Channel, "@")
}

func (p Talker) DirectChannel(user string) string { return "@" + user }

func (p Talker) Pings(context.Context, string) bool { return !p.Quiet }

// Messenger is a chat with direct messages.
type Messenger struct {
	*Chat
	Told []string
	Err  error
}

func (m *Messenger) Tell(_ context.Context, user, text string) error {
	m.Told = append(m.Told, user+" "+text)
	return m.Err
}

// TwoChats returns the platforms chat and phone, which can mention people, and a
// directory of people on one of them.
func TwoChats() ([]bridge.Platform, *Staff) {
	s := NewStaff()
	s.People["dee"] = []bridge.Responder{{Person: "dee", Platform: "phone", User: "P-dee"}}
	return []bridge.Platform{Talker{Chat: &Chat{As: "chat"}}, Talker{Chat: &Chat{As: "phone"}}}, s
}
