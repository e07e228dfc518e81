package main

import (
	"os"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

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
