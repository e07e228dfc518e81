//go:build !unix

package main

import "os"

// exhausted reports whether a file has no more data. On this system, it cannot
// tell for a pipe.
func exhausted(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}
