package engine_test

import (
	"os"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	redistest.Close()
	os.Exit(code)
}
