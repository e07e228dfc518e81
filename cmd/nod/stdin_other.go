//go:build !unix

package main

import "os"

// exhausted reports whether nothing is left to read from a file. What is left in a
// pipe is not known here.
func exhausted(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}
