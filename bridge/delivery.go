package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// How long a click waits for the note that its card shows everything.
const (
	seenPatience = 2 * time.Second
	seenPoll     = 100 * time.Millisecond
	clickReserve = 700 * time.Millisecond // of the click's own time, for its answer
)

// Sending holds the parts that were sent of a text too long for its card.
type Sending struct {
	// Content names what the parts carry; see [View.Content].
	Content string
	Parts   []MessageRef
	// Proofs show, for each part, that a daemon recorded it.
	Proofs []string
}

// Part records that one more part was sent.
type Part struct {
	Destination int
	Content     string
	N           int // how many were recorded before
	Ref         MessageRef
	Proof       string // shows that a daemon recorded it
}

// Shown records that a destination shows all of a content.
type Shown struct {
	Destination int
	Content     string
}

// contentOf names everything that people see of an interaction before they
// decide. The responders and the deadline do not count.
func contentOf(i Interaction) string {
	b, _ := json.Marshal(struct { // plain structs of ours, which always marshal
		Kind                            Kind
		Agent, Session, Tool, Requester string
		Prompt                          string
		Questions                       []Question
		Approval                        *Approval
		Initial                         map[string]Answer
		Error, Risk, Digest             string
		Grants                          []RuleGrant
		GrantFor                        Duration
		Round, Redacted                 int
	}{
		i.Kind, i.Agent, i.Session, i.ToolName, i.Requester, i.Prompt, i.Questions, i.Approval, i.Initial,
		i.Error, i.Risk, i.Digest, i.RuleGrants, i.GrantFor, i.Round, i.Redacted,
	})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Content names what the view shows people before they decide. It changes when
// any of that changes, and with nothing else, such as a vote.
func (v View) Content() string {
	if len(v.Batch) == 0 {
		return contentOf(v.Record.Interaction)
	}
	h := sha256.New()
	for _, r := range v.Batch {
		h.Write([]byte(contentOf(r.Interaction)))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Delivered returns the parts for an update that answers a click. They are
// closed unless the view shows a draft: a job may be sending them.
func (v View) Delivered() *Parts {
	if v.parts != nil {
		return v.parts
	}
	s, ok := v.Record.Sending[v.Destination]
	if !ok || s.Content != v.Content() {
		return nil
	}
	return &Parts{sent: s.Parts, closed: true}
}

// pending are the records of a view that wait for a decision.
func (v View) pending() []Record {
	all := v.Batch
	if len(all) == 0 {
		all = []Record{v.Record}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r Record) bool { return r.State.Final() })
}

// parts are those of a view that were sent, and record further ones. A part is
// out once it was sent, so recording it is tried for as long as the job lasts.
func (e *Engine) parts(v View) *Parts {
	d, content, id := v.Destination, v.Content(), v.Record.Interaction.ID
	var sent []MessageRef
	if s := v.Record.Sending[d]; s.Content == content {
		sent = slices.Clone(s.Parts)
	}
	return NewParts(sent, func(ctx context.Context, all []MessageRef) error {
		p := Part{Destination: d, Content: content, N: len(all) - 1, Ref: all[len(all)-1]}
		for {
			_, err := e.store.Mark(ctx, id, Mark{Part: &p})
			if ErrorCode(err) == CodeConflict {
				return Wrap(CodeUnavailable, err, "another daemon sends the full text")
			}
			if ErrorCode(err) != CodeUnavailable || !Pause(ctx, firstBackoff) {
				return err
			}
		}
	})
}

// markShown records that a destination shows the view's content, for each of
// those that wait for a decision.
func (e *Engine) markShown(ctx context.Context, v View) error {
	for _, r := range v.pending() {
		content := contentOf(r.Interaction)
		if r.Shown[v.Destination] == content {
			continue
		}
		s := Shown{Destination: v.Destination, Content: content}
		if _, err := e.store.Mark(ctx, r.Interaction.ID, Mark{Shown: &s}); err != nil && ErrorCode(err) != CodeNotFound {
			return err
		}
	}
	return nil
}

// seen reports whether a destination shows all that a decision would cover.
func seen(r Record, destination int) bool {
	return r.Shown[destination] == contentOf(r.Interaction)
}

// declines reports whether a control can only deny, decline, or ask more
// people. It is possible before everything is shown.
func (c Control) declines(i Interaction) bool {
	switch c.Action {
	case ActionDecline, ActionSnooze, ActionHandOver:
		return true
	case ActionAll:
		return c.Option < len(BatchDecisions) && !BatchDecisions[c.Option].Approves()
	case ActionChoose:
		all := i.Decisions()
		return i.Kind == KindApproval && c.Option < len(all) && !all[c.Option].Approves()
	case ActionInput, ActionSubmit:
		if i.Kind == KindApproval {
			return c.Option == OptionReason
		}
		return i.LonePlan() && c.Question == 1 // its button asks for changes
	}
	return false
}

// unseen refuses a control that may approve or answer while its card does not
// show everything that this decides. A click may overtake the note that the
// card shows it, so it waits a moment. A card that an earlier version of nod
// posted has no such note: it is drawn again.
func (e *Engine) unseen(ctx context.Context, a *admitted) (*Verdict, error) {
	if a.control.declines(a.record.Interaction) {
		return nil, nil
	}
	until := time.Now().Add(seenPatience)
	if end, ok := ctx.Deadline(); ok && end.Add(-clickReserve).Before(until) {
		until = end.Add(-clickReserve)
	}
	for polls := 0; !seen(a.record, a.control.Destination); polls++ {
		if _, posted := a.posted[a.control.Destination]; posted && polls == 2 {
			if err := e.drawAgain(ctx, a.record, a.control.Destination); err != nil {
				return nil, err
			}
		}
		if time.Now().After(until) || !Pause(ctx, seenPoll) {
			e.log.Warn("click before everything was shown", "id", a.record.Interaction.ID, "platform", a.actor.Platform, "user", a.actor.User)
			return &Verdict{Kind: VerdictInvalid, Note: noteUnseen}, nil
		}
		var err error
		if a.record, err = e.store.Load(ctx, a.record.Interaction.ID); err != nil {
			return nil, err
		}
		if a.record.State.Final() {
			return nil, nil
		}
	}
	return nil, nil
}

// drawAgain asks for the message that shows a record to be drawn again.
func (e *Engine) drawAgain(ctx context.Context, r Record, destination int) error {
	id := r.Interaction.ID
	if r.Batch != "" {
		id = r.Batch
	}
	_, err := e.store.Mark(ctx, id, Mark{Redraw: &destination})
	return err
}
