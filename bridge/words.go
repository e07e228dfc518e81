package bridge

import (
	"strings"
	"time"
)

// Notes that people read after a click or a command. They are plain text.
const (
	// NoteNotRecorded is shown if the store did not accept a click.
	NoteNotRecorded = "Not recorded. Click again."
	// NoteUnconfirmed is shown if the store accepted a click, but its replicas have
	// not confirmed it; see ErrUnconfirmed.
	NoteUnconfirmed = "Not confirmed yet: your click may have been recorded. Click again to find out."
	// NoteNotDone is shown if a command failed.
	NoteNotDone = "The command failed. Try again."
	// NoteToBot answers a message to the bot that is neither a command nor a reply.
	NoteToBot = "This is neither a command nor a reply to a card. Nothing was recorded. Send /nod help for a list of commands."
	// LabelSign is the label of a link to the page where a person proves an
	// approval.
	LabelSign = "Check and sign…"
)

// Outcome describes the state, with the scope of an approval and the answer to
// a single question.
func (r Record) Outcome() string {
	if why := r.Unverified; why != "" {
		return "not verified: " + why
	}
	if r.Overruled() {
		how := "ran: " + ReasonAllowed
		if r.Completion.Ran == ReasonAnswered {
			how = ReasonAnswered
		}
		r.Completion = nil
		return how + " (" + r.Outcome() + " too late)"
	}
	switch r.State {
	case StateApproved:
		return r.Response.approvedAs()
	case StateDenied:
		switch {
		case r.Response.Scope.Kind() == ScopeAlways:
			return "always denied"
		case r.Response.Stop:
			return "denied with a stop"
		case r.Response.Respond:
			return "answered instead of running"
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
		return "closed without an answer"
	}
	return string(r.State)
}

// approvedAs describes an approval and its scope.
func (r Response) approvedAs() string {
	switch {
	case r.Scope.Kind() == ScopeSession:
		return "approved for this session"
	case r.Scope.Kind() == ScopeAlways:
		return "always approved"
	case len(r.Input) > 0:
		return "approved with changes"
	}
	return "approved once"
}

// Labels returns an answer in the form that people read: the labels of chosen
// options, typed text unchanged, and the parts of an object with their names.
func (q Question) Labels(a Answer) string {
	var s []string
	if q.Composite() {
		i := Interaction{Ask: Ask{Questions: []Question{q}}}
		if q.Widget == WidgetPlanReview {
			for _, f := range i.Fields() { // the decision, and feedback if there is any
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
	return joinedList(s, q.Multiple())
}

// joinedList joins values with commas. If several values are given and one
// contains a comma, it quotes that value so that people see where it ends.
func joinedList(values []string, several bool) string {
	for n, v := range values {
		if several && strings.Contains(v, ",") {
			values[n] = "“" + v + "”"
		}
	}
	return strings.Join(values, ", ")
}

// Remaining returns the time until the deadline. It is never negative.
func (s Schedule) Remaining(now time.Time) time.Duration {
	return max(0, s.Deadline.Sub(now))
}
