// Package slack emulates one Slack workspace with one app: the Web API methods
// that interactive bots call, Socket Mode and HTTP delivery, and what members
// do in the client. SDKs connect to it unchanged.
//
// Code belongs here if it is specific to Slack. The table in kinds.go holds what
// Slack accepts in blocks, api.go lists the methods, and limits.go holds every
// other limit, each with its source. Code that applies to every chat service
// belongs to the core. The package does not know any bot or any other emulator.
//
// It has additional faults, which apply to the value of Method. missing_scope
// removes that scope from the bot. not_member removes that account from the
// channels. foreign, guest, robot and unconfirmed change the kind of that
// account. thread_locked locks the threads of that channel.
package slack

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Name is the name of the service.
const Name = "slack"

// Credentials and places of a workspace. They are not secret.
const (
	BotToken      = "xoxb-sandbox"
	AppToken      = "xapp-sandbox"
	SigningSecret = "sandbox-slack-signing-secret"
	Channel       = "C0DEPLOYS1"
	BotUser       = "U0BOT00000"
	UserGroup     = "S0SRE00001" // has no members at first
)

const (
	otherChannel = "C0ONCALL02"
	team         = "T0SANDBOX"
	partner      = "T0PARTNER" // another workspace that shares the channels
	app          = "A0SANDBOX"
	bot          = "B0SANDBOX"
)

// Options configures a workspace.
type Options struct {
	// URL is the address that receives interactions. If it is empty, they go
	// through Socket Mode.
	URL string
}

// Emulator is one Slack workspace with one app. It is safe for concurrent use.
// The lock of the hub guards its state.
type Emulator struct {
	*core.Base
	mux      *http.ServeMux
	url      string // address that receives interactions
	sockets  map[*socket]bool
	tickets  map[string]bool // tickets for sockets that may be opened
	turn     int             // selects the socket for the next payload
	triggers map[string]trigger
	stacks   map[string][]*view       // open modals by user; the visible modal is last
	homes    map[string]*view         // Home tabs by user
	urls     map[string]responseURL   // response URLs by the last part of their path
	address  string                   // address at which bots reach the sandbox
	entered  map[input][]string       // values that members have not submitted yet
	deleted  map[string]bool          // deleted messages by channel and timestamp
	sessions map[string]*SessionState // sessions of agents by channel and thread
	lastTS   int64
}

// New returns a workspace with two channels.
func New(h *core.Hub, members []core.Account, o Options) *Emulator {
	e := &Emulator{
		Base: core.NewBase(h, Name, members), mux: http.NewServeMux(), url: o.URL,
		sockets: map[*socket]bool{}, tickets: map[string]bool{}, triggers: map[string]trigger{},
		stacks: map[string][]*view{}, homes: map[string]*view{}, urls: map[string]responseURL{}, address: standardAddress,
		entered: map[input][]string{}, deleted: map[string]bool{},
		sessions: map[string]*SessionState{},
	}
	e.add(Channel, "deploys")
	e.add(otherChannel, "oncall")
	e.mux.HandleFunc("/slack/api/{method}", e.serve)
	e.mux.HandleFunc("/slack/socket", e.socket)
	e.mux.HandleFunc("POST /slack/response/{key}", e.responseURL)
	return e
}

// ServeHTTP implements http.Handler.
func (e *Emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.At(r)
	e.mux.ServeHTTP(w, r)
}

// standardAddress is the address of the sandbox before its first request.
const standardAddress = "http://127.0.0.1:8788"

// At remembers the address of the sandbox in a request. Response URLs start
// with this address.
func (e *Emulator) At(r *http.Request) {
	e.Lock()
	defer e.Unlock()
	e.address = core.Address(r)
}

// A deed holds the payloads that an action of a member sends to the app, and
// the reaction of the client to the answer to the last one. If react is nil,
// the client only confirms the action.
type deed struct {
	sends []raw.Object
	react func(answer json.RawMessage, err error) core.Reaction
}

// actions are the actions of members. They run with the lock held.
var actions = map[string]func(e *Emulator, m core.Account, a core.Action) (deed, error){
	"press": (*Emulator).press, "enter": (*Emulator).enter, "submit": (*Emulator).submit, "close": (*Emulator).close,
	"command": (*Emulator).command, "home": (*Emulator).openHome, "send": (*Emulator).send, "reply": (*Emulator).send,
	"stop": (*Emulator).stop, "delete": (*Emulator).takeDown, "edit": (*Emulator).edit, "convert": (*Emulator).convert,
}

// Act implements core.Service. Members click buttons, fill inputs, submit and
// close modals, send commands and messages, open the Home tab, stop agents, and
// edit and delete messages.
func (e *Emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil {
		return core.Reaction{}, err
	}
	do := actions[a.Do]
	if do == nil {
		return core.Reaction{}, e.CannotDo(a.Do)
	}
	e.Lock()
	d, err := do(e, m, a)
	e.Unlock()
	if err != nil {
		return core.Reaction{}, err
	}
	var answer json.RawMessage
	for _, payload := range d.sends {
		if !e.hidden(payload) {
			answer, err = e.deliver(ctx, payload)
		}
	}
	if d.react == nil {
		return core.Reaction{OK: true}, nil
	}
	e.Lock()
	defer e.Unlock()
	return d.react(answer, err), nil
}

// Disconnect asks every socket to reconnect, as Slack does when it recycles
// connections.
func (e *Emulator) Disconnect(int) error {
	e.disconnect(e.Context(), "refresh_requested")
	return nil
}

// Home opens the Home tab of the app as a member and returns the texts of the
// tab.
func (e *Emulator) Home(ctx context.Context, as string) (string, error) {
	r, err := e.Act(ctx, core.Action{Service: Name, As: as, Do: "home"})
	if err != nil || r.Warning != "" {
		return r.Warning, err
	}
	m, err := e.Member(as)
	if err != nil {
		return "", err
	}
	e.Lock()
	defer e.Unlock()
	if home := e.homes[m.ID]; home != nil {
		return raw.Texts(home.View), nil
	}
	return "", nil
}
