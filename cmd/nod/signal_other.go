//go:build !unix

package main

import "os"

// signalled is the exit code of a process that did not exit on its own.
func signalled(*os.ProcessState) int { return 1 }

// passedSignals are those of the console, which sends them to the command too.
var passedSignals = []os.Signal{os.Interrupt}

// reachesGroup reports whether the console sends a signal to the command too.
func reachesGroup(os.Signal) bool { return true }
