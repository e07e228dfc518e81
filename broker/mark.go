package broker

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// Mark implements bridge.Records.
func (rs *records) Mark(ctx context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	args := markArgs(m)
	if args == nil {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInternal, "empty mark")
	}
	cmd, fields := rs.runAndRead(ctx, id, rs.scripts.mark, append([]any{string(id)}, args...)...)
	reply, err := cmd.Text()
	if err != nil {
		return bridge.Record{}, unavailable(err)
	}
	if reply == "missing" {
		return bridge.Record{}, bridge.NotFound(id)
	}
	rs.poke()
	r, err := read(id, fields)
	if err == nil && reply == "changed" {
		return r, bridge.Errorf(bridge.CodeConflict, "interaction %s was changed in the meantime", id)
	}
	if err == nil && reply == "final" {
		err = bridge.Errorf(bridge.CodeConflict, "interaction %s is already %s", id, r.State)
	}
	return r, err
}

// Abandon implements bridge.Records.
func (rs *records) Abandon(ctx context.Context, id bridge.ID, name string, cut bool) (bool, error) {
	reply, err := rs.run(ctx, rs.scripts.mark, rs.transitionKeys(id), string(id), "left", name, flag(cut)).Text()
	if err == nil && reply == "missing" {
		return false, bridge.NotFound(id)
	}
	return reply == "last", unavailable(err)
}

// Sending implements bridge.Records. It succeeds only once the replicas have
// confirmed it, because a lost note would bring back a spent answer.
func (rs *records) Sending(ctx context.Context, r bridge.Record, caller string) error {
	reply, err := rs.note(ctx, r.Interaction.ID, true, "sent", caller)
	if err == nil && reply == "taken" {
		return &bridge.RepeatedError{Interaction: r.Interaction}
	}
	return err
}

// Delivered implements bridge.Records.
func (rs *records) Delivered(ctx context.Context, r bridge.Record) error {
	if _, err := rs.note(ctx, r.Interaction.ID, false, "delivered"); err != nil {
		return err
	}
	rs.poke()
	return nil
}

// note stores an event. It does not read the record again.
func (rs *records) note(ctx context.Context, id bridge.ID, keep bool, what ...any) (reply string, err error) {
	one := &call{script: rs.scripts.mark, keys: rs.transitionKeys(id), args: append([]any{string(id)}, what...), keep: keep}
	if err := rs.queue.do(ctx, one); err != nil {
		return "", err
	}
	if reply, err = one.reply.Text(); err != nil {
		return "", unavailable(err)
	}
	if reply == "missing" {
		return "", bridge.NotFound(id)
	}
	return reply, nil
}

// markArgs returns the arguments of mark.lua after the ID, or nil for an empty
// mark.
func markArgs(m bridge.Mark) []any {
	switch {
	case m.Posted != nil:
		return []any{
			"posted", m.Posted.Destination, data(m.Posted.Ref), m.Posted.Revision,
			data(bridge.Delivery{Destination: m.Posted.Destination, Message: &m.Posted.Ref}), m.Posted.Content,
			m.Posted.Look.Milliseconds(),
		}
	case m.Failed != nil:
		left := bridge.Response{
			State: bridge.StateUndeliverable, Reason: m.Failed.Reason, Annotations: map[string]bridge.Annotation{},
		}
		return []any{
			"failed", m.Failed.Destination, m.Failed.Reason,
			data(bridge.Delivery{Destination: m.Failed.Destination, Reason: m.Failed.Reason}), data(left), flag(m.Failed.Later),
		}
	case m.Queued > 0:
		return []any{"queued", m.Queued.Milliseconds(), m.Held}
	case m.Completed != nil:
		return []any{"completed", data(m.Completed)}
	case m.Joined, m.Caller != "":
		return []any{"joined", m.Caller, flag(m.Joined)}
	case m.Amended != nil:
		return amendArgs(m.Amended)
	case m.Late != nil:
		return []any{"late", m.Late.Destination, m.Late.Delay.Milliseconds()}
	case m.Redraw != nil:
		return []any{"redraw", *m.Redraw}
	case m.Refresh != nil:
		return []any{"refresh", m.Refresh.Milliseconds()}
	case m.Part != nil:
		return []any{"part", m.Part.Destination, m.Part.Content, m.Part.N, data(sentPart{m.Part.Ref, m.Part.Proof})}
	case m.Deleted != nil:
		return []any{"deleted", m.Deleted.Destination, data(m.Deleted.Ref), flag(m.Deleted.Again)}
	case m.Shown != nil:
		return []any{"shown", m.Shown.Destination, m.Shown.Content}
	}
	return nil
}

func amendArgs(a *bridge.Amendment) []any {
	step, due := any(""), any("")
	if t := a.Then; t != nil {
		step = t.Index
		if t.Index < len(a.Interaction.Steps) {
			due = t.In.Milliseconds()
		}
	}
	args := []any{
		"amended", a.Expect, data(a.Interaction.Flat()), len(a.Interaction.Destinations), flag(a.Wider), step, due,
		a.Delay.Milliseconds(), voided(a.Void),
	}
	for _, m := range a.Reminders {
		args = append(args, data(m))
	}
	return args
}

// voided returns the voters whose approvals no longer count, each between two
// separators.
func voided(voters []string) string {
	out := ""
	for _, who := range voters {
		out += voteEnd + clean(who) + voteEnd
	}
	return out
}
