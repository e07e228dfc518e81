package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// Setting returns an empty setting. The fake has no grants and no front ends.
func (f *fake) Setting(context.Context, bridge.SettingQuery) (bridge.Setting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bridge.Setting{}, f.refuses
}
