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

// stillWaiting is the text of a reminder.
func stillWaiting(i bridge.Interaction) string {
	left := i.Remaining(time.Now()).Round(time.Minute)
	s := "⏰ Still waiting for an answer: " + shortened(bridge.OneLine(i.Prompt))
	if left >= time.Minute {
		s += " · " + bridge.Brief(left) + " left"
	}
	return s
}

// maxShort bounds a text that is shown shortened, in characters.
const maxShort = 200

func shortened(s string) string {
	if utf8.RuneCountInString(s) > maxShort {
		s = string([]rune(s)[:maxShort-1]) + "…"
	}
	return s
}

const (
	noteForged  = "That is not a control of this request. Nothing was recorded."
	noteUnknown = "This request is no longer known here. Nothing was recorded."
	noteMuted   = "This channel is read-only for nod just now, so nothing was recorded. /" + bridge.CommandName + " unmute lets it answer again."
	noteUnseen  = "This card does not show everything yet, so nothing was recorded. Wait a moment, read it, and click again."
	noteChanged = "The requirements changed since this card was drawn. Nothing was recorded: read the card and decide again."
	noteAllLate = "Too late: all of it was decided before. Nothing was recorded."
	// The card shows the newer question by then.
	noteAskedAgain = "Too late: this was asked again. The card shows the new question; nothing was recorded."
)

func noteForbidden(i bridge.Interaction) string {
	return "You may not answer this one. Nothing was recorded. Asked: " + responderNames(i) + "."
}

func noteNotYours(a bridge.Actor) string {
	return "The card showed the choice of " + bridge.OneLine(a.Display()) + ". It shows yours now: check it and press again."
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
	who := "nod"
	if a := r.Response.Actor; a != nil {
		who = bridge.OneLine(a.Display()) + " on " + a.Platform
		if a.Same(actor) {
			who = "you, on " + a.Platform
		}
	}
	at := r.Response.At.UTC().Format("15:04:05 UTC")
	switch r.State {
	case bridge.StateExpired:
		return "Too late: this expired at " + at + ". Nothing was recorded."
	case bridge.StateCancelled:
		if r.Response.Actor != nil {
			return "Already declined by " + who + " at " + at + "."
		}
		if by := r.Response.WithdrawnBy; by != nil {
			return "Too late: " + by.Display() + " withdrew this at " + at + ". Nothing was recorded."
		}
		return "Too late: the agent withdrew this at " + at + ". Nothing was recorded."
	case bridge.StateSuperseded:
		return "Too late: the agent replaced this at " + at + ". Nothing was recorded."
	case bridge.StateUndeliverable:
		return "Too late: this was closed as undeliverable at " + at + ". Nothing was recorded."
	}
	if r.Response.Actor == nil && r.Response.Rule != "" {
		return "Already decided by the policy at " + at + ": " + r.Outcome() + ". Nothing was recorded."
	}
	if r.Response.Actor == nil {
		return "Too late: nobody had answered by " + at + ", so it ended as: " + r.Outcome() + "."
	}
	return "Already decided by " + who + " at " + at + ": " + r.Outcome() + "."
}

// noteWhy tells somebody why they may not answer.
func noteWhy(i bridge.Interaction, why string) string {
	switch why {
	case whyRequester:
		return "This is your own request, so somebody else has to answer it; you can deny it. Nothing was recorded. Asked: " + responderNames(i) + "."
	case whyUnlinked:
		return "Your account is not linked to a person of the config, and this needs to know who you are. Nothing was recorded."
	}
	return noteForbidden(i)
}

// responderNames are who is asked: people, and groups with their mark.
func responderNames(i bridge.Interaction) string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range i.Responders {
		if r.Person != "" {
			add(r.Person)
		} else {
			add(r.User)
		}
	}
	for _, g := range i.Groups {
		add(bridge.GroupMark + g)
	}
	return strings.Join(names, ", ")
}

const noteVotedBefore = "Your vote is recorded already; somebody else has to answer too."

// maxShow and maxShowInput bound the prompt and the input of a shown request, in
// bytes: one platform takes 2,000 characters, and the rest of the reply is short.
const (
	maxShow      = 400
	maxShowInput = 1000
)

// told is a request in words.
func told(r bridge.Record) string {
	i := r.Interaction
	lines := []string{bridge.OneLine(i.Agent) + " asks: " + cutBytes(visible.Text(strings.TrimSpace(i.Prompt)), maxShow)}
	if a := i.Approval; a != nil && a.Tool != "" {
		lines = append(lines, "To run: "+bridge.OneLine(a.Tool)+inputOf(*a))
	}
	switch {
	case r.State.Final():
		over := "It is over: " + r.Outcome()
		if r.Response != nil && r.Response.Actor != nil {
			over += ", by " + bridge.OneLine(r.Response.Actor.Display()) + " on " + r.Response.Actor.Platform
		}
		lines = append(lines, over+".")
	case len(r.Votes) > 0:
		lines = append(lines, r.Voted())
	}
	if !r.State.Final() {
		lines = append(lines, i.Left(time.Now())+" left, until "+i.Deadline.UTC().Format("15:04 UTC")+". Asked: "+responderNames(i)+".")
	}
	for n, d := range i.Destinations {
		where := d.Platform + ":" + d.Channel
		if _, posted := r.Messages[n]; !posted {
			where += " (not there yet)"
		}
		lines = append(lines, "Shown in "+where)
	}
	return strings.Join(lines, "\n")
}

// inputOf is the input of an approval as its card shows it: line by line, so
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

// cutBytes shortens a text between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "… (" + strconv.Itoa(len(s)-n) + " bytes more are on its card)"
}

func typedProblem(problem string) bridge.Verdict {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: problem, Problems: map[int]string{bridge.TypedProblem: problem}}
}
