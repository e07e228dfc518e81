// Package pty opens terminals for tests, on Linux.
package pty
