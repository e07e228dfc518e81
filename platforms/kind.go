package platforms

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/config/secret"
)

// Kind describes a kind of platform to the rest of nod. The list of
// all kinds is in package kinds.
type Kind struct {
	Name  string // in the config and in destinations
	Title string // name in the spelling of the service
	Doc   string // follows Name in the documentation of its section
	// Settings returns settings without values: a pointer to a struct, whose
	// comments are the documentation. The first field is the token, without which
	// the platform is off. The tag env is the conventional variable of a field.
	Settings func() any

	Account, Group, Channel, Thread ID
	// Canonical returns the same text for all IDs of an account. If it is nil,
	// an account has only one ID.
	Canonical func(account string) string
	// Emails means that the email addresses of accounts can prove who they belong
	// to.
	Emails bool
	// Unseen is the reason that nod cannot know whether a person can open a
	// private request, and the advice for people. Both are empty if nod knows.
	Unseen, UnseenFix string

	// Check reports settings that contradict each other. It may be nil.
	Check func(settings any, bad func(key, format string, args ...any))
	// Replaced is the key of a setting that a sandbox replaces, or "".
	Replaced string
	// Address returns the URL at which the service reaches nod, or "". It may be
	// nil.
	Address func(settings any) string
	// Callback is the path of the service's callbacks, and Sandbox is the path
	// of its API in a sandbox.
	Callback, Sandbox string

	Setup Setup
	// New returns a platform with settings. It makes no network calls.
	New func(settings any, o Options) (Adapter, error)
}

// ID describes a kind of ID. The config has only IDs, because names change, and
// others can take them.
type ID struct {
	Form *lazyregexp.Regexp // if nil, there is no such ID
	Like string             // an example
	Doc  string             // for the documentation: the subject of the ID
	Hint string             // the setting to use instead; if empty, an ID is required
}

// Check returns the problem with an ID, or "".
func (i ID) Check(id string) string {
	switch {
	case i.Form != nil && i.Form.MatchString(id):
		return ""
	case i.Hint != "":
		return fmt.Sprintf("invalid ID %q (such as %s); %s", id, i.Like, i.Hint)
	}
	return fmt.Sprintf("invalid ID %q (such as %s); set the ID, which /nod who shows, and not a name", id, i.Like)
}

// Setup has the instructions and the prompts of nod init.
type Setup struct {
	Steps  func() string // instructions for creating the tokens
	Tokens []Token
	// Place is the word for a destination in the names of flags. Label is the
	// word in prompts.
	Place, Label string
	// Find explains where to find the IDs of the destination and of the
	// account.
	Find string
	// Invite returns a line with the URL that adds the bot to a place. It may be
	// nil.
	Invite func(context.Context, Adapter) (string, error)
	// Introduce gets the IDs from a message that a person sends to the bot. Ask
	// asks for the message, and Unheard explains what to do if no message
	// arrives. It may be nil.
	Introduce    func(context.Context, Adapter) (Introduced, error)
	Ask, Unheard string
}

// Token is a secret that nod init asks for.
type Token struct {
	Key, Label string
	Unless     string // key of a setting that replaces it
}

// Introduced names the place and the author of a message to the bot.
type Introduced struct{ Place, Title, User, Name string }

// Options are the dependencies of a platform in addition to its settings.
type Options struct {
	Name   string
	APIURL string // replaces the address of the service if set
	// NoPacing sends without delay until the service limits the rate.
	NoPacing bool
	// Turns shares the rate limits with other daemons. If it is nil, nothing is
	// delayed.
	Turns bridge.Turns
	Notes Notes
	// Daemons returns the number of daemons that receive events for this
	// account. If it is nil, there is one daemon.
	Daemons func(context.Context) (int, error)
	// Console means that the web console is on. ConsoleURL is empty if it is not
	// known.
	Console    bool
	ConsoleURL string
	Log        *slog.Logger
}

// Notes keeps small values for a platform; see bridge.Notes.
type Notes interface {
	PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error)
	SetNote(ctx context.Context, key, value string, ttl time.Duration) error
	Note(ctx context.Context, key string) (string, error)
	DropNote(ctx context.Context, key string) error
}

// Adapter is a Platform with the methods that the daemon and nod doctor use.
type Adapter interface {
	bridge.Platform
	bridge.Diagnoser
	// Handler serves the callbacks of the service.
	Handler(bridge.Sink) http.Handler
}

// Basic can be embedded in a small platform. It has no callbacks, nothing to
// diagnose, no groups and no mentions, and is always up.
type Basic struct{}

// Handler implements Adapter.
func (Basic) Handler(bridge.Sink) http.Handler { return http.NotFoundHandler() }

// Diagnose implements bridge.Diagnoser.
func (Basic) Diagnose(context.Context, bridge.Needs) []bridge.Finding { return nil }

// Health implements bridge.HealthReporter.
func (Basic) Health() bridge.Health { return bridge.Health{State: bridge.HealthUp} }

// Belongs implements bridge.Grouper.
func (Basic) Belongs(context.Context, string, string) (bool, error) { return false, nil }

// Direct implements bridge.Mentioner.
func (Basic) Direct(bridge.Destination) bool { return false }

// DirectChannel implements bridge.Mentioner.
func (Basic) DirectChannel(string) string { return "" }

// Pings implements bridge.Mentioner.
func (Basic) Pings(context.Context, string) bool { return false }

// Field returns the setting of a key.
func Field(settings any, key string) reflect.Value {
	v := reflect.ValueOf(settings).Elem()
	for n := range v.NumField() {
		if v.Type().Field(n).Tag.Get("yaml") == key {
			return v.Field(n)
		}
	}
	panic("platforms: no setting " + key)
}

// Secret returns the secret of a key.
func Secret(settings any, key string) *secret.Text {
	return Field(settings, key).Addr().Interface().(*secret.Text)
}
