//go:build !unix

package daemon

import (
	"math"
	"os"
)

// reloadSignal is nil, because the system has no such signal.
var reloadSignal os.Signal

// fileLimit returns a number that no process reaches, because the system has no
// such limit.
func fileLimit() int { return math.MaxInt32 }

// NoCoreDumps does nothing, because the system has no core dumps.
func NoCoreDumps() {}
