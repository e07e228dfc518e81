package bridge

import (
	"strings"
	"time"
)

// Line returns the name of the queue in which a card waits at a destination.
// The destination shows the cards of one agent in the order of its requests.
// Delayed cards have a queue for each delay, so that no other card waits for
// them.
func (i Interaction) Line(destination int) string {
	d := i.Destinations[destination]
	parts := []string{i.Agent, d.Platform, d.Channel, d.Thread}
	if i.Grace > 0 {
		parts = append(parts, time.Duration(i.Grace).String())
	}
	return strings.Join(parts, "\x00")
}

// SentParts holds the sent parts of a text that is too long for its card.
type SentParts struct {
	// Content identifies the text in the parts; see [View.Content].
	Content string
	Parts   []MessageRef
}

// Content identifies what the view shows people before they decide. It changes
// only if the shown text changes. A vote, for example, does not change it.
func (v View) Content() string { return v.Record.Interaction.Content }

// Tag returns the start of Content, for names of messages, files and controls that
// must change with it.
func (v View) Tag() string { return v.Content()[:min(4, len(v.Content()))] }

// Delivered returns the parts for an update that answers a click. They are
// closed unless the view shows a draft, because a job may be sending the same
// parts.
func (v View) Delivered() *Parts {
	if v.Parts != nil {
		return v.Parts
	}
	s, ok := v.Record.SentParts[v.Destination]
	if !ok || s.Content != v.Content() {
		return nil
	}
	return &Parts{sent: s.Parts, closed: true}
}

// Declines reports whether a control can only deny, decline, or ask more
// people. Such a control works even before the complete text is shown.
func (c Control) Declines(i Interaction) bool {
	switch c.Action {
	case ActionSnooze, ActionHandOver:
		return true
	case ActionInput, ActionSubmit:
		return c.Denies(i) || i.LonePlan() && c.Question == 1 // the button of this question requests changes
	}
	return c.Denies(i)
}

// Denies reports whether a control can only deny or decline.
func (c Control) Denies(i Interaction) bool {
	n := c.Option
	switch c.Action {
	case ActionDecline:
		return true
	case ActionInput, ActionSubmit:
		if c.Option == OptionReason {
			return i.Kind == KindApproval
		}
		if n = c.Question; c.Option != OptionDecide {
			return false
		}
	case ActionChoose:
	default:
		return false
	}
	all := i.Decisions()
	return n < len(all) && all[n].Denies()
}
