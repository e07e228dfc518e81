//go:build unix

package files

import "syscall"

// nonblocking is the flag that keeps opening a pipe from waiting for its writer.
const nonblocking = syscall.O_NONBLOCK
