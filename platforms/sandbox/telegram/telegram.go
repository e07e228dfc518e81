// Package telegram emulates the Telegram Bot API for one bot with its chats:
// the methods that interactive bots call, long polling and webhooks, and what
// members do in the client. SDKs connect to it unchanged.
//
// Code belongs here if it is specific to Telegram. Each file holds one family
// of methods, and limits.go holds every limit with its source. Code that
// applies to every chat service belongs to the core. The package does not know
// any bot or any other emulator.
package telegram

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox/core"
)

// Name is the name of the service.
const Name = "telegram"

// Credentials and places of a bot. They are not secret.
const (
	Token = "7000:sandbox-telegram-token"
	Chat  = int64(-1001000000001)
	// Forum is a group with topics: General, which has no ID, and Topic.
	Forum = int64(-1001000000002)
	Topic = 2
	// Small is a basic group that a member can turn into the supergroup Grown.
	Small = int64(-4001)
	Grown = int64(-1001000000003)
	BotID = int64(7000)
	// Username is the name of the bot in mentions and commands.
	Username = "nod_sandbox_bot"
)

// Emulator is one Telegram bot with groups and a private chat with every
// member. It is safe for concurrent use. The lock of the hub guards its state.
type Emulator struct {
	*core.Base
	mux     *http.ServeMux
	chats   map[string]*chat
	files   core.Files
	updates updates
	queries map[string]*query // by ID
}

// New returns a bot with its chats.
func New(h *core.Hub, members []core.Account) *Emulator {
	e := &Emulator{
		Base: core.NewBase(h, Name, members), mux: http.NewServeMux(), chats: map[string]*chat{},
		queries: map[string]*query{},
		updates: updates{lastID: 100000, wake: make(chan struct{})},
	}
	e.add(strconv.FormatInt(Chat, 10), "Deploys", supergroup).last = 10
	forum := e.add(strconv.FormatInt(Forum, 10), "Projects", supergroup)
	forum.last, forum.topics = 10, []int{Topic}
	e.add(strconv.FormatInt(Small, 10), "Small team", group)
	for _, m := range members {
		e.add(m.ID, m.Name, private).User = m.ID
	}
	e.mux.HandleFunc("/telegram/{bot}/{method}", e.serve)
	e.mux.Handle("GET /telegram/files/{id}", &e.files)
	return e
}

// ServeHTTP implements http.Handler.
func (e *Emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

// Act implements core.Service. Members click buttons, reply to messages, send
// messages and commands, turn a basic group into a supergroup, and turn off the topics
// of a forum.
func (e *Emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil {
		return core.Reaction{}, err
	}
	if _, err := strconv.ParseInt(a.Channel, 10, 64); err != nil {
		return core.Reaction{}, e.Errorf("channel %q is not a chat ID", a.Channel)
	}
	switch a.Do {
	case "press":
		return e.press(ctx, m, a)
	case "upgrade":
		return e.upgrade(m, a)
	case "flatten":
		return e.flatten(a)
	case "reply", "send":
		return e.write(m, a)
	}
	return core.Reaction{}, e.CannotDo(a.Do)
}

// Disconnect implements core.Service. It always returns an error, because
// polling and webhooks keep no connections.
func (e *Emulator) Disconnect(int) error { return fmt.Errorf("%s has no connections to end", Name) }
