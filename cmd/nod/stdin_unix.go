//go:build unix

package main

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// endTime is the time that a program on the other side of a pipe has to end, such
// as the : in : | nod run.
const endTime = 300 * time.Millisecond

// exhausted reports whether nothing is left to read from a file or a pipe, and no
// one can write to it. It reads nothing.
func exhausted(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if info.Mode().IsRegular() {
		at, err := f.Seek(0, io.SeekCurrent)
		return err == nil && at >= info.Size()
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	ended := false
	err = conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(endTime/time.Millisecond))
		ended = err == nil && n > 0 && fds[0].Revents == unix.POLLHUP // with POLLIN, something is left
	})
	return err == nil && ended
}
