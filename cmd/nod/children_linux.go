package main

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// reapOrphans collects the processes that lose their parent while a program
// runs, if nod is the first process of a container: no one else does, and they
// would stay as zombies. It leaves the program itself to its caller, who calls
// the returned function after the program has ended.
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

// collect collects the children that have ended, except one.
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

// startBound starts a program that gets SIGTERM when nod ends, even if it ended
// by SIGKILL. Linux sends it when the thread ends that started the program, so
// the caller keeps its thread until the returned function is called.
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
