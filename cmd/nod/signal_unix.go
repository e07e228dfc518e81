//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/cmd/nod/terminal"
)

// passedSignals are the signals that nod run passes on to the command.
var passedSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// reachesGroup reports whether the terminal also sends a signal to the command,
// as it sends some signals to all processes in the foreground.
func reachesGroup(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}

// signalled returns the exit code that shells use for a process that was ended
// by a signal.
func signalled(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return 1
}

// ownGroup starts a command in a process group of its own.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to the process group of a command.
func signalGroup(p *os.Process, s syscall.Signal) error { return syscall.Kill(-p.Pid, s) }

// unreadCheck is the time between two checks for a reader. An agent's death is
// noticed within it.
const unreadCheck = time.Second

// untilUnread returns a context that ends once out has no reader. The agent that started a hook has then died without
// a signal to the hook.
func untilUnread(parent context.Context, out io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	f, ok := terminal.File(out)
	if !ok {
		return ctx, func() { cancel(context.Canceled) }
	}
	go func() {
		for ctx.Err() == nil {
			fds := []unix.PollFd{{Fd: int32(f.Fd())}} // errors and hang-ups are always reported
			if n, err := unix.Poll(fds, int(unreadCheck.Milliseconds())); err == nil && n > 0 {
				cancel(relay.Withdrawal("the agent has ended"))
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
