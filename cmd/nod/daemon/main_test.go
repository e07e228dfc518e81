package daemon_test

import (
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
