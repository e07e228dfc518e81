package main

import (
	"os"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// forCI skips a test in short mode.
func forCI(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make ci runs this")
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(wrappedEnv) != "" {
		serveWrapped()
		return
	}
	if os.Getenv(appServerEnv) != "" {
		serveAppServer()
	}
	rig.Main(m)
}
