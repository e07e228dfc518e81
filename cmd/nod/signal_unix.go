//go:build unix

package main

import (
	"os"
	"syscall"
)

// signalled is the exit code that shells give a process ended by a signal.
func signalled(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return 1
}

// reloadSignal has the daemon read its config again.
var reloadSignal os.Signal = syscall.SIGHUP

// noCoreDumps keeps what is in memory out of files that a crash would leave.
func noCoreDumps() {
	// Best effort: where the limit can not be lowered, the system's own stands.
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
