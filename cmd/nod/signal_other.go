//go:build !unix

package main

import "os"

// signalled is the exit code of a process that did not exit by itself.
func signalled(*os.ProcessState) int { return 1 }

// reloadSignal is none where there are no signals.
var reloadSignal os.Signal

// noCoreDumps has nothing to do where there are none.
func noCoreDumps() {}
