//go:build unix

package daemon

import (
	"os"
	"syscall"
)

// reloadSignal has the daemon read its config again.
var reloadSignal os.Signal = syscall.SIGHUP

// NoCoreDumps keeps what is in memory out of files that a crash would leave.
func NoCoreDumps() {
	// Best effort: where the limit cannot be lowered, the system's own stands.
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
