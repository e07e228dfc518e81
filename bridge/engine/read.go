package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// maxLooked is the maximum number of pending requests to examine.
const maxLooked = 200

// reader returns records that verify.
type reader struct {
	records  bridge.Records
	granter  *granter
	people   *People
	redactor *redactor
}

// get implements Engine.Get.
func (re *reader) get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := re.records.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return r, r.Trusted()
}

// await implements Engine.Await.
func (re *reader) await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	r, err := re.records.Await(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, re.received(ctx, r)
}

// received stores the grants of a record that a caller has waited for. It is not
// inlined, so that the stacks of callers that wait do not hold its copies.
//
//go:noinline
func (re *reader) received(ctx context.Context, r *bridge.Record) error {
	if r.Delivered.IsZero() {
		if err := re.granter.give(ctx, *r); err != nil {
			return err
		}
	}
	return r.Trusted()
}

// delivered implements Engine.Delivered.
func (re *reader) delivered(ctx context.Context, r bridge.Record) error {
	if !r.State.Final() || !r.Delivered.IsZero() {
		return nil
	}
	return re.records.Delivered(ctx, r)
}

// shown implements Engine.Shown.
func (re *reader) shown(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := re.records.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return re.redactor.record(r), nil
}

// waiting implements Engine.Waiting.
func (re *reader) waiting(ctx context.Context, actor bridge.Actor, n int) ([]bridge.Record, bool, error) {
	return re.pendingFor(ctx, n, func(r bridge.Record) (bool, error) { return re.people.MayAnswer(ctx, r.Interaction, actor) })
}

func (re *reader) pendingFor(ctx context.Context, n int, wanted func(bridge.Record) (bool, error)) ([]bridge.Record, bool, error) {
	ids, err := re.records.Pending(ctx, "", "")
	if err != nil {
		return nil, false, err
	}
	var out []bridge.Record
	for k, id := range ids {
		if k == maxLooked {
			return out, true, nil
		}
		r, err := re.records.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && r.State.Final() {
			continue
		}
		ok := false
		if err == nil {
			ok, err = wanted(r)
		}
		switch {
		case err != nil:
			return nil, false, err
		case ok && len(out) == n:
			return out, true, nil
		case ok:
			out = append(out, re.redactor.record(r))
		}
	}
	return out, false, nil
}
