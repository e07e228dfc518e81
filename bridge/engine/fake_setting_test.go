package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// Setting returns the notes. The fake has no grants and no front ends.
func (f *fake) Setting(_ context.Context, q bridge.SettingQuery) (bridge.Setting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := bridge.Setting{Notes: make([]string, len(q.Notes))}
	for n, key := range q.Notes {
		s.Notes[n] = f.notes[key]
	}
	return s, f.refuses
}
