package measure

import (
	"testing"

	"github.com/nodbridge/nod/cmd/nod/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
