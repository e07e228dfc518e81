package bridge

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge/visible"
)

// Limits of the messages of people for sessions.
const (
	// MaxSteering is the maximum length of a message, in characters.
	MaxSteering = 4000
	// MaxSteerings is the maximum number of messages of a session that no
	// agent has taken.
	MaxSteerings = 50
	// SteeringTTL is the time for which a message waits for its agent.
	SteeringTTL = 24 * time.Hour
)

// Fate is the outcome of a message of a person for a session.
type Fate string

// The fates.
const (
	FateWaiting   Fate = "waiting"   // the agent has not taken it
	FateDelivered Fate = "delivered" // the agent has taken it
	FateEnded     Fate = "ended"     // the session ended before
	FateExpired   Fate = "expired"   // SteeringTTL passed before
)

// Steering is a message of a person for a session. It reaches the agent as an
// instruction, so only people who may answer the session's requests may send
// one.
type Steering struct {
	// ID acknowledges this message and all earlier ones of the session.
	ID      string    `json:"id,omitempty"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	By      Actor     `json:"by"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
	// Where is the chat message with the text. It is nil for a message from
	// the API or a command.
	Where *Written `json:"where,omitempty"`
	// Route is the route whose responders may send the message if the session
	// has no requests.
	Route string `json:"route,omitempty"`
	// Fate is the outcome, and Done its time. Done is zero while the message
	// waits.
	Fate Fate      `json:"fate,omitempty"`
	Done time.Time `json:"done,omitzero"`
	// Again means that a reader took the message before and has not acknowledged
	// it, so that the agent may have it.
	Again bool `json:"again,omitempty"`

	// Nonce identifies repeats of a message that was typed in a dialog.
	Nonce string `json:"-"`
	// Told is the fate that the author knows, and Note the message that says
	// so. Note is nil before.
	Told Fate        `json:"-"`
	Note *MessageRef `json:"-"`
}

// Written is a message that a person wrote in chat.
type Written struct {
	Platform string     `json:"platform"`
	Ref      MessageRef `json:"ref"`
	// Dialog means that the text was typed in a dialog of the message at Ref, so
	// that notes name the author. They repeat the text unless Private is set.
	Dialog  bool `json:"dialog,omitempty"`
	Private bool `json:"private,omitempty"`
}

// maxRepeated is the length of a text in notes about it, in characters.
const maxRepeated = 1000

// Notice returns what the chat reads about the message: its status and, if the
// chat does not show the message, what it is.
func (s Steering) Notice() string {
	switch {
	case s.Where == nil || !s.Where.Dialog:
		return s.Status()
	case s.Where.Private:
		return OneLine(s.By.Display()) + " wrote to the agent. " + s.Status()
	}
	return OneLine(s.By.Display()) + " wrote: '" + reported(s.Text, maxRepeated) + "'\n" + s.Status()
}

// Words returns the message as a fact, for the agent.
func (s Steering) Words() string {
	where := ""
	if s.By.Platform != PlatformAPI {
		where = " in " + OneLine(s.By.Platform)
	}
	return OneLine(s.By.Display()) + " wrote" + where + " at " + s.At.UTC().Format("15:04:05 UTC") + ": '" + s.Text + "'"
}

// Status describes the fate, for the author.
func (s Steering) Status() string {
	agent := OneLine(s.Agent)
	switch s.Fate {
	case FateDelivered:
		return "Delivered to " + agent + " at " + s.Done.UTC().Format("15:04:05 UTC") + "."
	case FateEnded:
		return "Not delivered: the session has ended."
	case FateExpired:
		return "Not delivered: " + agent + " has not taken the message within " + Brief(SteeringTTL) + "."
	}
	return "Waiting, not delivered yet. " + agent + " gets the message at its next step. It does not answer a request."
}

// SteeringText returns the text of a message without control characters. It
// returns CodeInvalid for a text that is empty or too long.
func SteeringText(text string) (string, error) {
	text = strings.TrimSpace(visible.Text(strings.ToValidUTF8(text, "�")))
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", Errorf(CodeInvalid, "text: required")
	case n > MaxSteering:
		return "", Errorf(CodeInvalid, "text: %d characters are too many (at most %d)", n, MaxSteering)
	}
	return text, nil
}

// Taking describes who takes the messages of a session.
type Taking struct {
	Agent, Session string
	// Reader identifies the process that takes the messages. No other reader
	// gets them before the lease ends. If Reader is empty, there is no lease.
	Reader string
	Lease  time.Duration
	// Continued is nil unless the agent ends its turn. It then reports whether
	// the turn was continued by a message already; see MaxContinued.
	Continued *bool
	Limit     int
}

// MaxContinued is the number of times in a row that Claude Code continues a
// turn at its end. Messages that come later wait for the next turn.
const MaxContinued = 8

// Steerings stores the messages of people for sessions until their agents have
// taken them, and what the authors were told.
type Steerings interface {
	// PutSteering appends a message to those of its session, and returns it
	// with its ID. It returns the first message of the same key, unless the key
	// is empty, and CodeRateLimited if MaxSteerings messages wait.
	PutSteering(ctx context.Context, s Steering, key string) (Steering, error)
	// TakeSteerings returns the oldest messages that wait, unless another reader
	// has a lease on them.
	TakeSteerings(context.Context, Taking) ([]Steering, error)
	// EndSteerings ends the wait of the messages of a session through the given
	// one, or of all if through is empty. It returns the number of messages.
	EndSteerings(ctx context.Context, agent, session, through string, f Fate) (int, error)
	// Steering returns a message. It returns CodeNotFound if it is unknown or
	// was delivered long ago.
	Steering(ctx context.Context, session, id string) (Steering, error)
	// UntoldSteerings returns up to limit messages whose authors must be told
	// something new, and leases them to the caller. It expires old messages.
	UntoldSteerings(ctx context.Context, limit int, lease time.Duration) ([]Steering, error)
	// ToldSteering records Told and Note of a message.
	ToldSteering(context.Context, Steering) error
}

// SteeringNoter is a Platform that tells authors what became of their messages.
type SteeringNoter interface {
	// NoteSteering writes a text in reply to a message of a person, or changes
	// the earlier reply. It returns the reply.
	NoteSteering(ctx context.Context, to MessageRef, earlier *MessageRef, text string) (MessageRef, error)
}
