package bridge

import (
	"strings"
	"time"
)

// What people read when they press something. Plain text; names in it are
// foreign text.
const (
	noteForged  = "That is not a control of this request. Nothing was recorded."
	noteUnknown = "This request is no longer known here. Nothing was recorded."
	noteMuted   = "This channel is read-only for nod just now, so nothing was recorded. /" + CommandName + " unmute lets it answer again."
	noteUnseen  = "This card does not show everything yet, so nothing was recorded. Wait a moment, read it, and click again."
	noteChanged = "The requirements changed since this card was drawn. Nothing was recorded: read the card and decide again."
	// The card shows the newer question by then.
	noteAskedAgain = "Too late: this was asked again. The card shows the new question; nothing was recorded."
	// NoteNotRecorded is shown when the store did not take a click.
	NoteNotRecorded = "Not recorded, please press again."
	// NoteNotDone is shown when a command could not be carried out.
	NoteNotDone = "That could not be done just now, please try again."
)

func noteForbidden(i Interaction) string {
	return "You may not answer this one. Nothing was recorded. Asked: " + responderNames(i) + "."
}

func noteNotYours(a Actor) string {
	return "The card showed the choice of " + oneLine(a.Display()) + ". It shows yours now: check it and press again."
}

func noteRecorded(r Record) string {
	if !r.State.Final() {
		return r.Voted()
	}
	return "Recorded: " + r.Outcome() + "."
}

func noteLate(r Record, actor Actor) string {
	if why := r.Unverified; why != "" {
		return "Nothing was recorded: " + why + "."
	}
	if r.Response == nil {
		return NoteNotRecorded
	}
	who := "nod"
	if a := r.Response.Actor; a != nil {
		who = oneLine(a.Display()) + " on " + a.Platform
		if a.Same(actor) {
			who = "you, on " + a.Platform
		}
	}
	at := r.Response.At.UTC().Format("15:04:05 UTC")
	switch r.State {
	case StateExpired:
		return "Too late: this expired at " + at + ". Nothing was recorded."
	case StateCancelled:
		if r.Response.Actor != nil {
			return "Already declined by " + who + " at " + at + "."
		}
		if by := r.Response.WithdrawnBy; by != nil {
			return "Too late: " + by.Display() + " withdrew this at " + at + ". Nothing was recorded."
		}
		return "Too late: the agent withdrew this at " + at + ". Nothing was recorded."
	case StateSuperseded:
		return "Too late: the agent replaced this at " + at + ". Nothing was recorded."
	case StateUndeliverable:
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

// Outcome is the state in words, with the scope of an approval and the answer
// to a single question.
func (r Record) Outcome() string {
	if why := r.Unverified; why != "" {
		return "not verified: " + why
	}
	switch r.State {
	case StateApproved:
		switch r.Response.Scope {
		case ScopeSession:
			return "approved for this session"
		case ScopeAlways:
			return "always approved"
		}
		if len(r.Response.Input) > 0 {
			return "approved with changes"
		}
		return "approved once"
	case StateDenied:
		switch {
		case r.Response.Scope == ScopeAlways:
			return "always denied"
		case r.Response.Stop:
			return "denied, and the agent stopped"
		}
	case StateAnswered:
		if r.Interaction.Kind == KindNotice {
			return "shown"
		}
		qs := r.Interaction.Questions
		if len(qs) != 1 || r.Interaction.CompletedView.Hidden() {
			break
		}
		if a := r.Response.Answers[qs[0].ID]; !a.Empty() {
			if s := qs[0].Labels(a); len(s) <= 80 {
				return "answered " + s
			}
		}
	}
	if r.State == StateCancelled && r.Response.Actor != nil {
		return "declined"
	}
	return string(r.State)
}

// Labels is an answer as people read it: the labels of chosen options, typed
// text as it is, the parts of an object by their names.
func (q Question) Labels(a Answer) string {
	var s []string
	if q.Composite() {
		i := Interaction{Questions: []Question{q}}
		if q.Widget == WidgetPlanReview {
			for _, f := range i.Fields() { // the decision, and the feedback if there is some
				if v := f.FieldAnswer(i, map[string]Answer{q.ID: a}); !v.Empty() {
					s = append(s, f.Labels(v))
				}
			}
			return strings.Join(s, ": ")
		}
		for _, f := range i.Fields() {
			if v := f.FieldAnswer(i, map[string]Answer{q.ID: a}); !v.Empty() {
				s = append(s, f.label()+": "+f.Labels(v))
			}
		}
		return strings.Join(s, "; ")
	}
	for _, v := range a.Values() {
		if n := q.optionIndex(v); n >= 0 {
			v = q.Options[n].Text()
		}
		s = append(s, v)
	}
	if len(s) == 0 {
		return "nothing"
	}
	return strings.Join(s, ", ")
}

// Remaining is the time left, never negative.
func (i Interaction) Remaining(now time.Time) time.Duration {
	return max(0, i.Deadline.Sub(now))
}
