package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// maxLooked bounds how many pending requests are looked at.
const maxLooked = 200

// reader returns records that verify.
type reader struct {
	records  bridge.Records
	granter  *granter
	people   *People
	redactor *redactor
}

// get returns a record. It returns CodeForbidden with one that does not
// verify.
func (re *reader) get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := re.records.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return r, r.Trusted()
}

// await returns once the interaction is final. Any number of callers in any
// process may wait for the same one; the error is ctx's when it ends first,
// and the interaction stays as it is. It returns CodeForbidden with a record
// that does not verify.
func (re *reader) await(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := re.records.Await(ctx, id)
	if err == nil && r.Delivered.IsZero() {
		err = re.granter.give(ctx, r)
	}
	if err != nil {
		return r, err
	}
	return r, r.Trusted()
}

// delivered notes that an agent has received the response. Only the first
// note counts.
func (re *reader) delivered(ctx context.Context, r bridge.Record) error {
	if !r.State.Final() || !r.Delivered.IsZero() {
		return nil
	}
	_, err := re.records.Mark(ctx, r.Interaction.ID, bridge.Mark{Delivered: true})
	return err
}

// shown is a record as people see it: Get, without the credentials that
// somebody typed.
func (re *reader) shown(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := re.records.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return re.redactor.record(r), nil
}

// waiting implements Lister. It looks at the newest of what is pending.
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
