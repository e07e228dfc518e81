//go:build !unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// signalled returns the exit code of a process that did not exit on its own.
func signalled(*os.ProcessState) int { return 1 }

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

// signalGroup ends a process. This system has no other signals.
func signalGroup(p *os.Process, _ syscall.Signal) error { return p.Kill() }

// passedSignals lists the signals of the console, which the command also gets.
var passedSignals = []os.Signal{os.Interrupt}

// reachesGroup reports whether the console also sends a signal to the command.
func reachesGroup(os.Signal) bool { return true }
