//go:build unix

package daemon

import (
	"os"
	"syscall"
)

// reloadSignal is the signal that makes the daemon reload its config.
var reloadSignal os.Signal = syscall.SIGHUP

// NoCoreDumps disables core dumps, which would contain secrets from memory.
func NoCoreDumps() {
	// Best effort: if the limit cannot be lowered, the system's limit applies.
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
