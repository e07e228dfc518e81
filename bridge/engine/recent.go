package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/cache"
)

// Limits of recent.
const (
	recentMany  = 4096
	recentBytes = 16 << 20 // of stored text
)

// recent remembers pending records as this process last read them, so that a
// click does not read them again. Another daemon may have changed or ended such
// an interaction since: whoever decides on what is remembered has to pass the
// number of amendments to the store, which refuses a decision on an older one.
// Only verified records are remembered. They are shared, so nobody may change
// what they point to. It is safe for concurrent use.
type recent struct {
	kept *cache.Cache[bridge.ID, *bridge.Record]
}

func newRecent() *recent {
	return &recent{cache.Sized[bridge.ID](recentMany, recentBytes, func(r *bridge.Record) int { return sizeOf(*r) })}
}

// get returns the record of an interaction as this process last read it, or nil.
func (re *recent) get(id bridge.ID) *bridge.Record {
	r, _ := re.kept.Get(id)
	return r
}

// keep remembers a record that a store returned, or forgets it if it is not
// pending or does not verify.
func (re *recent) keep(r bridge.Record, err error) {
	if err != nil || r.Unverified != "" || r.State != bridge.StatePending {
		re.kept.Remove(r.Interaction.ID)
	} else {
		re.kept.Put(r.Interaction.ID, &r)
	}
}

// opened remembers a plain approval that this process has opened, unless it was
// read since.
func (re *recent) opened(r bridge.Record) {
	if plainApproval(r) && r.Unverified == "" && r.State == bridge.StatePending {
		re.kept.PutNew(r.Interaction.ID, &r)
	}
}

// unreadSize is the size of a record that was not read, without its texts.
const unreadSize = 4 << 10

// sizeOf returns the size of a remembered record, in bytes.
func sizeOf(r bridge.Record) int {
	if i := r.Interaction; r.Stored == "" && i.Approval != nil {
		return unreadSize + len(i.Prompt) + len(i.Error) + len(i.Approval.Input)
	}
	return len(r.Stored)
}

// plainApproval reports whether one person decides an approval, in one way.
func plainApproval(r bridge.Record) bool {
	i := r.Interaction
	return i.Kind == bridge.KindApproval && len(i.Questions)+len(i.Initial) == 0 && i.CompletedView == nil && !i.Counted() &&
		i.StepUp == nil && r.Queued.IsZero() && r.Batch == "" && len(r.Members) == 0
}

// recentRecords remembers the records that it returns.
type recentRecords struct {
	bridge.Records
	recent *recent
}

// Load implements Records.
func (s recentRecords) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := s.Records.Load(ctx, id)
	s.recent.keep(r, err)
	return r, err
}

// Mark implements Records.
func (s recentRecords) Mark(ctx context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	r, err := s.Records.Mark(ctx, id, m)
	s.recent.keep(r, err)
	return r, err
}

// recentOutcomes remembers the records that it returns.
type recentOutcomes struct {
	bridge.Outcomes
	recent *recent
}

// Settle implements Outcomes.
func (s recentOutcomes) Settle(ctx context.Context, t bridge.Settlement) (bridge.Record, bool, error) {
	r, won, err := s.Outcomes.Settle(ctx, t)
	s.recent.keep(r, err)
	return r, won, err
}

// Vote implements Outcomes.
func (s recentOutcomes) Vote(ctx context.Context, b bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	r, result, err := s.Outcomes.Vote(ctx, b)
	s.recent.keep(r, err)
	return r, result, err
}
