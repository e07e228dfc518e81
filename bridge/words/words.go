// Package words holds the sentences with which nod answers people, if more than
// one package needs them: after a click, a command or a reply, and in
// reminders. It decides nothing. The words of cards are in package render.
// Start with [Recorded] and [Late].
package words

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/render"
)

// StillWaiting returns the text of a reminder that is sent now, without the
// names of the mentioned people before it. It also states the deadline, because
// the reminder stays next to the card.
func StillWaiting(r bridge.Record, now time.Time) string {
	act := "answer"
	if r.Interaction.Kind == bridge.KindApproval {
		act = "decide"
	}
	deadline := r.Interaction.Deadline
	return timeLeft(deadline.Sub(now)) + " left to " + act + " (until " + render.When(deadline) + "): " + About(r)
}

// timeLeft returns a duration for people. A long one has no seconds.
func timeLeft(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		d = d.Round(time.Hour)
	case d >= 2*time.Minute:
		d = d.Round(time.Minute)
	}
	return bridge.Brief(max(d, 0))
}

// About names a request in a notification by its headline. The route may hide a
// part of it.
func About(r bridge.Record) string {
	switch i := r.Interaction; {
	case i.Preview == bridge.PreviewNone:
		return "a request"
	case i.Private:
		return "a request from " + bridge.OneLine(i.Agent)
	}
	return Short(render.Title(r))
}

// ListedAs names a request in a list of several.
func ListedAs(r bridge.Record) string {
	if r.Interaction.Private {
		return About(r)
	}
	return Short(render.Title(r))
}

// maxShort is the maximum length of a shortened text, in characters.
const maxShort = 200

// Short returns a text on at most maxShort characters.
func Short(s string) string {
	if utf8.RuneCountInString(s) > maxShort {
		s = string([]rune(s)[:maxShort-1]) + "…"
	}
	return s
}

// Replies to clicks that were not recorded.
const (
	Forged  = "This control does not belong to this request. Nothing was recorded."
	Unknown = "nod no longer has this request. Nothing was recorded."
	Unseen  = "This card does not show everything yet. Nothing was recorded. Wait a moment, read the card, and click again."
	Changed = "The requirements have changed since this card was posted. Nothing was recorded. Read the card and decide again."
	// When people read this, the card already shows the new question.
	AskedAgain = "Too late: this was asked again. Nothing was recorded. The card shows the new question."
)

func forbidden(i bridge.Interaction) string {
	return "You may not answer this request. Nothing was recorded. Responders: " + Responders(i) + "."
}

// NotYours is the reply to a person who submits the selection of another
// person.
func NotYours(a bridge.Actor) string {
	return "The card showed the choice of " + bridge.OneLine(a.Display()) + ". It now shows yours: check it and click again."
}

// Recorded is the reply to a click that counted.
func Recorded(r bridge.Record) string {
	if !r.State.Final() {
		return r.Voted()
	}
	return "Recorded: " + r.Outcome() + "."
}

// Late is the reply to a click on a closed request.
func Late(r bridge.Record, actor bridge.Actor) string {
	if why := r.Unverified; why != "" {
		return "Nothing was recorded: " + why + "."
	}
	if r.Response == nil {
		return bridge.NoteNotRecorded
	}
	const unchanged = ". Your click changed nothing."
	at := " (" + render.WhenExact(r.Response.At) + ")"
	named := func(a bridge.Actor) string {
		if a.Same(actor) {
			return "You"
		}
		return bridge.OneLine(a.Display())
	}
	switch by := r.Response.WithdrawnBy; {
	case r.State == bridge.StateExpired:
		return "This has already expired" + at + unchanged
	case r.State == bridge.StateSuperseded:
		return "The agent has already asked again" + at + unchanged
	case r.State == bridge.StateUndeliverable:
		return "This was already closed as undeliverable" + at + unchanged
	case by != nil:
		return named(*by) + " already cancelled this" + at + unchanged
	case r.Response.Actor != nil:
		return named(*r.Response.Actor) + " already " + did(r) + at + unchanged
	case r.State == bridge.StateCancelled:
		return "The agent has already cancelled this" + at + unchanged
	case r.Response.Rule != "":
		return "The policy has already decided this" + at + ": " + r.Outcome() + unchanged
	}
	return "No one answered in time" + at + ", so the outcome is: " + r.Outcome() + unchanged
}

// did describes the action of a person on a request.
func did(r bridge.Record) string {
	switch r.State {
	case bridge.StateApproved:
		return "approved this"
	case bridge.StateDenied:
		return "denied this"
	case bridge.StateCancelled:
		return "closed this without an answer"
	}
	return "answered this"
}

// Why returns the note for a person who may not answer.
func Why(i bridge.Interaction, no people.Refusal) string {
	switch no.Why {
	case people.WhyUnread:
		note := "nod cannot tell now whether you may answer this request, because it cannot read " + strings.Join(no.Unread, ", ") +
			". Nothing was recorded. Click again in a moment."
		if no.Denies {
			note += " You can already deny it."
		}
		return note
	case people.WhyRequester:
		return "This is your own request, so someone else has to answer it. You can only deny it. Nothing was recorded. " +
			"Responders: " + Responders(i) + "."
	case people.WhyUnlinked:
		return "Your account is not linked to a person in the config, which this request requires. Nothing was recorded."
	}
	return forbidden(i)
}

// Responders returns the names of the responders: people, and groups with
// GroupMark.
func Responders(i bridge.Interaction) string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range i.Responders {
		if r.Person != "" {
			add(i.NameOf(r.Person))
		} else {
			add(r.User)
		}
	}
	for _, g := range i.Groups {
		add(bridge.GroupMark + g)
	}
	return strings.Join(names, ", ")
}

// Closed is the reply to a closed card that nod cannot change.
func Closed(r bridge.Record) string {
	return r.Outcome() + ": " + About(r) + " nod cannot change the card above anymore. Its buttons have no effect."
}

// VotedBefore is the reply to a repeated vote.
const VotedBefore = "Your vote is already recorded. Someone else has to respond as well."

// maxShow and maxShowInput limit the prompt and the input of a shown request,
// in bytes. A platform accepts 2,000 characters, and the rest of the reply is
// short.
const (
	maxShow      = 400
	maxShowInput = 1000
)

// Describe formats a request as plain text.
func Describe(r bridge.Record) string {
	i := r.Interaction
	said := cutBytes(visible.Text(strings.TrimSpace(i.Prompt)), maxShow)
	lines := []string{bridge.OneLine(i.Agent) + " asks: " + said}
	if a := i.Approval; a != nil && a.Tool != "" {
		lines = []string{"To run: " + bridge.OneLine(a.Tool) + inputOf(*a), bridge.OneLine(i.Agent) + " says: " + said}
	}
	if i.Rule != "" {
		lines = append(lines, strings.TrimPrefix(bridge.OneLine(i.Risk+" risk by the rule "), " risk ")+" "+bridge.OneLine(i.Rule))
	}
	switch {
	case r.State.Final():
		over := "Closed: " + r.Outcome()
		if r.Response != nil && r.Response.Actor != nil {
			a := r.Response.Actor
			over += ", by " + bridge.OneLine(a.Display()) + " on " + a.Platform + r.Response.Assurance.With()
		}
		lines = append(lines, over+".")
	case len(r.Votes) > 0:
		lines = append(lines, r.Voted())
	}
	if !r.State.Final() {
		lines = append(lines, i.Left(time.Now())+" left, until "+render.When(i.Deadline)+". Responders: "+Responders(i)+".")
	}
	for n, d := range i.Destinations {
		where := d.Platform + ":" + d.Channel
		if _, posted := r.Messages[n]; !posted {
			where += " (not posted yet)"
		}
		lines = append(lines, "Destination: "+where)
	}
	return strings.Join(lines, "\n")
}

// inputOf returns the input of an approval in the form of its card: line by
// line, so that people read the text that will run.
func inputOf(a bridge.Approval) string {
	var b strings.Builder
	for _, block := range render.Input(a) {
		b.WriteString("\n" + block.Text)
		for _, s := range block.Spans {
			b.WriteString(s.Text)
		}
	}
	return cutBytes(b.String(), maxShowInput)
}

// cutBytes truncates text at a character boundary.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "… (" + strconv.Itoa(len(s)-n) + " more bytes on its card)"
}

// Problem is the reply to typed text that needs a correction.
func Problem(problem string) bridge.Verdict {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: problem, Problems: map[int]string{bridge.TypedProblem: problem}}
}
