package daemon_test

import (
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// often returns how often a test repeats something: less often in short mode.
func often(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// forCI skips a test in short mode.
func forCI(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make ci runs this")
	}
}
