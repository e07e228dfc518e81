//go:build unix

package main

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// endTime is the time in which the program at the other end of a pipe must end,
// such as the : in ": | nod run".
const endTime = 300 * time.Millisecond

// exhausted reports whether a file or a pipe has no more data and no writer. It
// does not read any data.
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
		ended = err == nil && n > 0 && fds[0].Revents == unix.POLLHUP // with POLLIN, data is left
	})
	return err == nil && ended
}
