//go:build !unix

package files

// nonblocking is zero, because opening a pipe never blocks on this system.
const nonblocking = 0
