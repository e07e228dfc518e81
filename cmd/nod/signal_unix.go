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
