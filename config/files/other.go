//go:build !unix

package files

// nonblocking is zero, because the system opens no pipe that waits.
const nonblocking = 0
