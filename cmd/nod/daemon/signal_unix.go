//go:build unix

package daemon

import (
	"math"
	"os"
	"syscall"
)

// reloadSignal is the signal that makes the daemon reload its config.
var reloadSignal os.Signal = syscall.SIGHUP

// fileLimit returns the number of files that this process may open.
func fileLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || r.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(r.Cur)
}

// NoCoreDumps disables core dumps, which would contain secrets from memory.
func NoCoreDumps() {
	// Best effort: if the limit cannot be lowered, the system's limit applies.
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
