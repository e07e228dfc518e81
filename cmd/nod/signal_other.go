//go:build !unix

package main

import "os"

// signalled is the exit code of a process that did not exit by itself.
func signalled(*os.ProcessState) int { return 1 }

// noCoreDumps has nothing to do where there are none.
func noCoreDumps() {}
