package bridge

import (
	"strings"
	"time"
)

// What people read when they press something. Plain text; names in it are
// untrusted text.
const (

	// NoteNotRecorded is shown when the store did not take a click.
	NoteNotRecorded = "Not recorded, please press again."
	// NoteNotDone is shown when a command could not be carried out.
	NoteNotDone = "That could not be done just now, please try again."
)

// Outcome is the state in words, with the scope of an approval and the answer
// to a single question.
func (r Record) Outcome() string {
	if why := r.Unverified; why != "" {
		return "not verified: " + why
	}
	switch r.State {
	case StateApproved:
		return r.Response.approvedAs()
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

// approvedAs is an approval in words, with its scope.
func (r Response) approvedAs() string {
	switch {
	case r.Scope == ScopeSession:
		return "approved for this session"
	case r.Scope == ScopeAlways:
		return "always approved"
	case len(r.Input) > 0:
		return "approved with changes"
	}
	return "approved once"
}

// Labels is an answer as people read it: the labels of chosen options, typed
// text as it is, the parts of an object by their names.
func (q Question) Labels(a Answer) string {
	var s []string
	if q.Composite() {
		i := Interaction{Ask: Ask{Questions: []Question{q}}}
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
				s = append(s, f.Label()+": "+f.Labels(v))
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
func (s Schedule) Remaining(now time.Time) time.Duration {
	return max(0, s.Deadline.Sub(now))
}
