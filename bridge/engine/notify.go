package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/render"
)

// stillWaiting returns the text of a reminder that is sent now, which follows the
// names of those whom it mentions. It names the deadline too, because it stays next
// to the card.
func stillWaiting(r bridge.Record, now time.Time) string {
	act := "answer"
	if r.Interaction.Kind == bridge.KindApproval {
		act = "decide"
	}
	deadline := r.Interaction.Deadline
	return timeLeft(deadline.Sub(now)) + " left to " + act + " (until " + render.When(deadline) + "): " + about(r)
}

// timeLeft returns a time for people, who need no seconds of a long one.
func timeLeft(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		d = d.Round(time.Hour)
	case d >= 2*time.Minute:
		d = d.Round(time.Minute)
	}
	return bridge.Brief(max(d, 0))
}

// about names a request in a notification by its headline, of which the route
// may show only a part.
func about(r bridge.Record) string {
	switch i := r.Interaction; {
	case i.Preview == bridge.PreviewNone:
		return "a request"
	case i.Private:
		return "a request from " + bridge.OneLine(i.Agent)
	}
	return shortened(render.Title(r))
}

// listedAs names a request in a list of several.
func listedAs(r bridge.Record) string {
	if r.Interaction.Private {
		return about(r)
	}
	return shortened(render.Title(r))
}

// maxShort is the maximum length of a shortened text, in characters.
const maxShort = 200

func shortened(s string) string {
	if utf8.RuneCountInString(s) > maxShort {
		s = string([]rune(s)[:maxShort-1]) + "…"
	}
	return s
}

const (
	noteForged  = "This control does not belong to this request. Nothing was recorded."
	noteUnknown = "nod no longer has this request. Nothing was recorded."
	noteUnseen  = "This card does not show everything yet. Nothing was recorded. Wait a moment, read the card, and click again."
	noteChanged = "The requirements have changed since this card was posted. Nothing was recorded. Read the card and decide again."
	// When people read this, the card already shows the new question.
	noteAskedAgain = "Too late: this was asked again. Nothing was recorded. The card shows the new question."
)

func noteForbidden(i bridge.Interaction) string {
	return "You may not answer this request. Nothing was recorded. Responders: " + responderNames(i) + "."
}

func noteNotYours(a bridge.Actor) string {
	return "The card showed the choice of " + bridge.OneLine(a.Display()) + ". It now shows yours: check it and click again."
}

func noteRecorded(r bridge.Record) string {
	if !r.State.Final() {
		return r.Voted()
	}
	return "Recorded: " + r.Outcome() + "."
}

func noteLate(r bridge.Record, actor bridge.Actor) string {
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

// did says what a person did with a request.
func did(r bridge.Record) string {
	switch r.State {
	case bridge.StateApproved:
		return "approved this"
	case bridge.StateDenied:
		return "denied this"
	case bridge.StateCancelled:
		return "declined this"
	}
	return "answered this"
}

// noteWhy returns the note for a person who may not answer.
func noteWhy(i bridge.Interaction, no refusal) string {
	switch no.why {
	case whyUnread:
		note := "nod cannot tell now whether you may answer this request, because it cannot read " + strings.Join(no.unread, ", ") +
			". Nothing was recorded. Click again in a moment."
		if no.denies {
			note += " You can already deny it."
		}
		return note
	case whyRequester:
		return "This is your own request, so someone else has to answer it. You can only deny it. Nothing was recorded. " +
			"Responders: " + responderNames(i) + "."
	case whyUnlinked:
		return "Your account is not linked to a person in the config, which this request requires. Nothing was recorded."
	}
	return noteForbidden(i)
}

const (
	noteNoProofs = "This approval needs a passkey, which this daemon does not offer. Nothing was recorded. " +
		"Ask your nod administrator to enable the web console."
	noteSign = "This approval needs your passkey. Nothing is recorded yet. Open the link within 5 minutes, " +
		"check the request, and sign it. The link is for you only."
)

// noteNoPasskey returns the note for a person who cannot sign an approval.
func noteNoPasskey(url string) string {
	return "This approval needs a passkey, and you have none. Nothing was recorded. " +
		"Sign in to the console to add one: " + strings.TrimRight(url, "/") + "/console/. You can still deny."
}

// responderNames returns the names of the responders: people, and groups with
// GroupMark.
func responderNames(i bridge.Interaction) string {
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

// noteClosed is the reply to a closed card that nod cannot change.
func noteClosed(r bridge.Record) string {
	return r.Outcome() + ": " + about(r) + " nod cannot change the card above any more. Its buttons have no effect."
}

const noteVotedBefore = "Your vote is already recorded. Someone else has to respond as well."

// maxShow and maxShowInput bound the prompt and the input of a shown request, in
// bytes: one platform takes 2,000 characters, and the rest of the reply is short.
const (
	maxShow      = 400
	maxShowInput = 1000
)

// describe formats a request as plain text.
func describe(r bridge.Record) string {
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
		lines = append(lines, i.Left(time.Now())+" left, until "+render.When(i.Deadline)+". Responders: "+responderNames(i)+".")
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

// inputOf returns the input of an approval as its card shows it: line by line, so
// that people read what will run.
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

func typedProblem(problem string) bridge.Verdict {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: problem, Problems: map[int]string{bridge.TypedProblem: problem}}
}
