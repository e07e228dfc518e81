package main

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// reapOrphans collects orphaned processes while a program runs, if nod is the
// first process of a container. No other process does so, and they would stay
// as zombies. It does not collect the program itself. The caller must call the
// returned function after the program has ended.
func reapOrphans(own *os.Process) (stop func()) {
	if os.Getpid() != 1 {
		return func() {}
	}
	ended, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for {
			collect(own.Pid)
			select {
			case <-ended:
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(ended); close(done) }
}

// collect collects all ended children except one.
func collect(except int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != except {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // only children can be collected
		}
	}
}

// startBound starts a program that gets SIGTERM when nod ends, even by SIGKILL.
// Linux sends the signal when the thread that started the program ends, so the
// caller keeps its thread until it calls the returned function.
func startBound(c *exec.Cmd) (release func(), err error) {
	runtime.LockOSThread()
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGTERM
	if err := c.Start(); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return runtime.UnlockOSThread, nil
}
