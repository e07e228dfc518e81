package engine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

// maxLooked is the maximum number of pending requests to examine, and
// loadedAtOnce the number of records that are loaded concurrently.
const (
	maxLooked    = 1000
	loadedAtOnce = 50
)

// reader returns records that verify.
type reader struct {
	records  core.Interactions
	history  bridge.Histories // may be nil
	seams    *Seams
	redactor *Redactor
}

// get implements Engine.Get.
func (re *reader) get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := re.records.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return r, r.Trusted()
}

// awaitThen implements Engine.AwaitThen.
func (re *reader) awaitThen(ctx context.Context, id bridge.ID, then func(core.Awaited)) {
	re.records.AwaitThen(ctx, id, func(result core.Awaited) {
		then(func() (*bridge.Record, error) {
			r, err := result()
			if err != nil {
				return nil, err
			}
			return r, re.received(ctx, r)
		})
	})
}

// received finishes the work that is required before a caller gets a response.
func (re *reader) received(ctx context.Context, r *bridge.Record) error {
	if r.Delivered.IsZero() {
		if err := re.seams.repeated(ctx, *r); err != nil {
			return err
		}
	}
	return r.Trusted()
}

// sending implements Engine.Sending.
func (re *reader) sending(ctx context.Context, r bridge.Record, caller string) error {
	if err := re.seams.send(ctx, r); err != nil {
		return err
	}
	if r.State != bridge.StateApproved || !r.Interaction.Keyed() || caller == bridge.Anyone {
		caller = "" // several callers may get it
	}
	if !r.State.Final() || !r.Interaction.Repeatable() || caller == "" && !r.Sent.IsZero() {
		return nil
	}
	return re.records.Sending(ctx, r, caller)
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
	return re.redactor.Record(r), nil
}

// pending implements Engine.Pending.
func (re *reader) pending(ctx context.Context, n int, wanted func(bridge.Record) (bool, error)) (out bridge.List, more bool, err error) {
	ids, err := re.records.Pending(ctx, "", "")
	if err != nil {
		return out, false, err
	}
	for some := range slices.Chunk(ids[:min(len(ids), maxLooked)], loadedAtOnce) {
		page, err := re.loadAll(ctx, some)
		if err != nil {
			return out, false, err
		}
		out.Unreadable += page.Unreadable
		for _, r := range page.Items {
			ok, err := wanted(r)
			switch {
			case err != nil:
				return out, false, err
			case ok && len(out.Items) == n:
				return out, true, nil
			case ok:
				out.Items = append(out.Items, re.redactor.Record(r))
			}
		}
	}
	return out, len(ids) > maxLooked, nil
}

// posted implements Engine.Posted.
func (re *reader) posted(ctx context.Context, platform string, wanted func(bridge.MessageRef) bool) ([]bridge.Record, error) {
	ids, err := re.records.Posted(ctx, platform, wanted)
	var out []bridge.Record
	for some := range slices.Chunk(ids, loadedAtOnce) {
		page, err := re.loadAll(ctx, some)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
	}
	return out, err
}

// loadAll returns those of the given requests that are pending, in their order. A request
// that does not verify is pending at most for those who forged it.
func (re *reader) loadAll(ctx context.Context, ids []bridge.ID) (out bridge.List, err error) {
	records, errs := make([]bridge.Record, len(ids)), make([]error, len(ids))
	var wg sync.WaitGroup
	for k, id := range ids {
		wg.Go(func() { records[k], errs[k] = re.records.Load(ctx, id) })
	}
	wg.Wait()
	for k, r := range records {
		e, coded := errors.AsType[*bridge.Error](errs[k])
		switch {
		case coded && e.Code == bridge.CodeNotFound:
		case coded && e.Code == bridge.CodeInternal, errs[k] == nil && r.Unverified != "":
			out.Unreadable++
		case errs[k] != nil:
			return out, errs[k]
		case !r.State.Final():
			out.Items = append(out.Items, r)
		}
	}
	return out, nil
}

// list implements Engine.List.
func (re *reader) list(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	if re.history == nil {
		return bridge.List{}, nil
	}
	page, err := re.history.List(ctx, f)
	if err != nil {
		return bridge.List{}, err
	}
	page.Items = slices.DeleteFunc(page.Items, func(r bridge.Record) bool { return r.Interaction.IsSession() })
	for k, r := range page.Items {
		page.Items[k] = re.redactor.Record(r)
	}
	return page, nil
}
