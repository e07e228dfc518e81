//go:build !unix

package daemon

import "os"

// reloadSignal is nil, because the system has no such signal.
var reloadSignal os.Signal

// NoCoreDumps does nothing, because the system has no core dumps.
func NoCoreDumps() {}
