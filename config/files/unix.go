//go:build unix

package files

import "syscall"

// nonblocking is the flag that opens a pipe without waiting for its writer.
const nonblocking = syscall.O_NONBLOCK
