package cli

import (
	"runtime/debug"
	"testing"
)

// TestModuleVersion checks that go install of a module gives its version, and
// that a build from a work tree has none, even if Go derives one from the
// commit.
func TestModuleVersion(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789ab"}}
	for _, x := range []struct {
		module   string
		settings []debug.BuildSetting
		want     string
	}{
		{"v0.3.0", nil, "0.3.0"},
		{"v0.3.1-0.20261123000000-0123456789ab", nil, "0.3.1-0.20261123000000-0123456789ab"},
		{"v0.3.1-0.20261123000000-0123456789ab+dirty", commit, "dev"},
		{"v0.3.0", commit, "dev"},
		{"(devel)", nil, "dev"},
		{"", nil, "dev"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: x.module}, Settings: x.settings}
		if got := moduleVersion(info); got != x.want {
			t.Errorf("%s %v is %s, want %s", x.module, x.settings, got, x.want)
		}
	}
}
