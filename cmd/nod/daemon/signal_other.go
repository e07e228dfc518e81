//go:build !unix

package daemon

import "os"

// reloadSignal is none where there are no signals.
var reloadSignal os.Signal

// NoCoreDumps has nothing to do where there are none.
func NoCoreDumps() {}
