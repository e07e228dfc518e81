package engine

import (
	"context"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/nodbridge/nod/bridge"
)

// Limits of recent. The interaction that is not used for the longest time leaves
// first.
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
	mu    sync.Mutex
	kept  *simplelru.LRU[bridge.ID, *bridge.Record]
	bytes int
}

func newRecent() *recent {
	re := &recent{}
	kept, err := simplelru.NewLRU(recentMany, func(_ bridge.ID, r *bridge.Record) { re.bytes -= len(r.Stored) })
	if err != nil {
		panic(err) // only for a size below 1
	}
	re.kept = kept
	return re
}

// get returns the record of an interaction as this process last read it, or nil.
func (re *recent) get(id bridge.ID) *bridge.Record {
	re.mu.Lock()
	defer re.mu.Unlock()
	r, _ := re.kept.Get(id)
	return r
}

// keep remembers a record that a store returned, or forgets it if it is not
// pending or does not verify.
func (re *recent) keep(r bridge.Record, err error) {
	id := r.Interaction.ID
	if id == "" {
		return
	}
	re.mu.Lock()
	defer re.mu.Unlock()
	re.kept.Remove(id)
	if err != nil || r.Unverified != "" || r.State != bridge.StatePending || len(r.Stored) > recentBytes {
		return
	}
	re.bytes += len(r.Stored)
	re.kept.Add(id, &r)
	for re.bytes > recentBytes {
		re.kept.RemoveOldest()
	}
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
