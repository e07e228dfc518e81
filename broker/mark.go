package broker

import (
	"context"
	"time"

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
	rs.poke(id.Partition())
	r, err := read(id, fields)
	if err == nil && reply == "changed" {
		return r, bridge.Errorf(bridge.CodeConflict, "interaction %s was changed in the meantime", id)
	}
	if err == nil && reply == "final" {
		err = bridge.Errorf(bridge.CodeConflict, "interaction %s is already %s", id, r.State)
	}
	return r, err
}

// Delivered implements bridge.Records. It does not read the record again.
func (rs *records) Delivered(ctx context.Context, r bridge.Record) error {
	id := r.Interaction.ID
	reply, err := rs.run(ctx, id.Partition(), rs.scripts.mark, rs.transitionKeys(id), string(id), "delivered").Text()
	if err != nil {
		return unavailable(err)
	}
	if reply == "missing" {
		return bridge.NotFound(id)
	}
	rs.poke(id.Partition())
	return nil
}

// markArgs returns the arguments of mark.lua after the ID, or nil for an empty
// mark.
func markArgs(m bridge.Mark) []any {
	switch {
	case m.Posted != nil:
		return []any{
			"posted", m.Posted.Destination, data(m.Posted.Ref), m.Posted.Revision,
			data(bridge.Delivery{Destination: m.Posted.Destination, Message: &m.Posted.Ref}), m.Posted.Content,
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
	case m.Joined:
		return []any{"joined"}
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
	case m.Shown != nil:
		return []any{"shown", m.Shown.Destination, m.Shown.Content}
	}
	return nil
}

func amendArgs(a *bridge.Amendment) []any {
	args := []any{
		"amended", a.Expect, data(a.Interaction.Flat()), len(a.Interaction.Destinations), flag(a.Wider), a.Step,
		max(a.Next, -1*time.Millisecond).Milliseconds(), a.Delay.Milliseconds(), voided(a.Void),
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
