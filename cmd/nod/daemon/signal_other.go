//go:build !unix

package daemon

import (
	"math"
	"os"
)

// reloadSignal is nil, because this system has no SIGHUP.
var reloadSignal os.Signal

// fileLimit returns a number that no process reaches, because this system has
// no such limit.
func fileLimit() int { return math.MaxInt32 }

// NoCoreDumps does nothing, because this system has no core dumps.
func NoCoreDumps() {}
