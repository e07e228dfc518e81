package bridge

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge/visible"
)

// Limits of the messages that people send to sessions.
const (
	// MaxSteering is the maximum length of a message, in characters.
	MaxSteering = 4000
	// MaxSteerings is the maximum number of undelivered messages of a session.
	MaxSteerings = 50
	// SteeringTTL is the time for which nod keeps an undelivered message.
	SteeringTTL = 24 * time.Hour
)

// Fate is the outcome of a message that a person sent to a session.
type Fate string

// The fates.
const (
	FateWaiting   Fate = "waiting"   // the agent has not received it yet
	FateDelivered Fate = "delivered" // the agent has received it
	FateEnded     Fate = "ended"     // the session ended before the agent received it
	FateExpired   Fate = "expired"   // SteeringTTL passed before the agent received it
)

// Steering is a message from a person to a session. It reaches the agent as an
// instruction, so only people who may answer the session's requests may send
// one.
type Steering struct {
	ID      string    `json:"id,omitempty"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	By      Actor     `json:"by"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
	// Where is the chat message that contains the text. It is nil for a message
	// from the API or a command.
	Where *Written `json:"where,omitempty"`
	// Route is the route whose responders may send the message if the session
	// has no requests.
	Route string `json:"route,omitempty"`
	// Fate is the outcome of the message, and Done is the time of the outcome.
	// Done is zero while the message waits.
	Fate Fate      `json:"fate,omitempty"`
	Done time.Time `json:"done,omitzero"`
	// Again means that a reader took the message before and has not
	// acknowledged it. The agent may already have it.
	Again bool `json:"again,omitempty"`

	// Nonce identifies repeats of a message that was typed in a dialog.
	Nonce string `json:"-"`
	// Told is the last fate that nod reported to the author, and Note is the
	// message with that report. Note is nil before the first report.
	Told Fate        `json:"-"`
	Note *MessageRef `json:"-"`
}

// Written is a chat message from a person.
type Written struct {
	Platform string     `json:"platform"`
	Ref      MessageRef `json:"ref"`
	// Dialog means that the person typed the text in a dialog of the message at
	// Ref. Notes then name the author. They repeat the text unless Private is
	// set.
	Dialog  bool `json:"dialog,omitempty"`
	Private bool `json:"private,omitempty"`
}

// maxRepeated is the maximum length, in characters, of a text that a note
// repeats.
const maxRepeated = 1000

// Notice returns the note in the chat about the message: its status and, if the
// chat does not show the message, its text.
func (s Steering) Notice() string {
	switch {
	case s.Where == nil || !s.Where.Dialog:
		return s.Status()
	case s.Where.Private:
		return OneLine(s.By.Display()) + " wrote to the agent. " + s.Status()
	}
	return OneLine(s.By.Display()) + " wrote: '" + reported(s.Text, maxRepeated) + "'\n" + s.Status()
}

// Words returns the message for the agent, worded as a fact.
func (s Steering) Words() string {
	where := ""
	if s.By.Platform != PlatformAPI {
		where = " in " + OneLine(s.By.Platform)
	}
	return OneLine(s.By.Display()) + " wrote" + where + " at " + s.At.UTC().Format("15:04:05 UTC") + ": '" + s.Text + "'"
}

// Status describes the fate of the message for its author.
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
	return "Waiting, not delivered yet. " + agent + " gets the message at its next step. The message does not answer a request."
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

// Taking holds the arguments of a call that takes the messages of a session.
type Taking struct {
	Agent, Session string
	// Reader identifies the process that takes the messages. No other reader
	// gets them before the lease ends. If Reader is empty, there is no lease.
	Reader string
	Lease  time.Duration
	// Continued is nil unless the agent ends its turn. It reports whether a
	// message has already continued the turn; see MaxContinued.
	Continued *bool
}

// MaxContinued is the number of times in a row that Claude Code continues a
// turn at its end. Later messages wait for the next turn.
const MaxContinued = 8

// SteeringNoter is a Platform that tells authors whether the agent took their messages.
type SteeringNoter interface {
	// NoteSteering writes a text in reply to a message from a person, or
	// changes the earlier reply. It returns the reply.
	NoteSteering(ctx context.Context, to MessageRef, earlier *MessageRef, text string) (MessageRef, error)
}
