// Package slack emulates one Slack workspace with one app: the Web API methods
// that interactive bots call, Socket Mode and HTTP delivery, and what members
// do in the client. SDKs connect to it unchanged.
//
// Code belongs here if it is specific to Slack. Each file holds one family of
// methods, and limits.go holds every limit with its source. Code that applies
// to every chat service belongs to the core. The package does not know any bot
// or any other emulator.
//
// It has additional faults, which apply to the value of Method. missing_scope
// removes that scope from the bot. not_member removes that account from the
// channels. foreign, guest, robot and unconfirmed change the kind of that
// account. thread_locked locks the threads of that channel.
package slack

import (
	"context"
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
type Emulator struct {
	*workspace
	delivery *delivery
	client   client
	mux      *http.ServeMux
}

// New returns a workspace with two channels.
func New(h *core.Hub, members []core.Account, o Options) *Emulator {
	w := newWorkspace(core.NewBase(h, Name, members), o)
	d := newDelivery(w, o.URL)
	e := &Emulator{workspace: w, delivery: d, client: client{w, d}, mux: http.NewServeMux()}
	e.mux.HandleFunc("/slack/api/{method}", newWebAPI(w, d).serve)
	e.mux.HandleFunc("/slack/socket", d.socket)
	e.mux.HandleFunc("POST /slack/response/{key}", w.responseURL)
	return e
}

// ServeHTTP implements http.Handler.
func (e *Emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.At(r)
	e.mux.ServeHTTP(w, r)
}

// At remembers the address of the sandbox in a request. Response URLs start
// with this address.
func (e *Emulator) At(r *http.Request) {
	e.Lock()
	defer e.Unlock()
	e.address = core.Address(r)
}

// Act implements core.Service. Members click buttons, fill inputs, submit and
// close modals, send commands and messages, open the Home tab, stop agents, and
// edit and delete messages.
func (e *Emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil {
		return core.Reaction{}, err
	}
	switch a.Do {
	case "press":
		return e.client.press(ctx, m, a)
	case "enter":
		return e.client.enter(ctx, m, a)
	case "submit":
		return e.client.submit(ctx, m, a)
	case "close":
		return e.client.close(ctx, m, a)
	case "command":
		return e.client.command(ctx, m, a)
	case "home":
		return e.client.openHome(ctx, m)
	case "send", "reply":
		return e.client.send(ctx, m, a)
	case "stop":
		return e.client.stop(ctx, m, a)
	case "delete":
		return e.client.remove(ctx, a)
	case "edit":
		return e.client.edit(ctx, m, a)
	case "convert":
		return e.client.convert(ctx, m, a)
	}
	return core.Reaction{}, e.CannotDo(a.Do)
}

// Disconnect asks every socket to reconnect, as Slack does when it recycles
// connections.
func (e *Emulator) Disconnect(int) error {
	e.delivery.disconnect(e.Context(), "refresh_requested")
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
