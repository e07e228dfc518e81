// Package files reads files from paths that users give, with limits of size,
// kind and time. It does not depend on the format of a file. Start reading at
// Read.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// fileTime is the maximum time without data from a pipe, so that a command does
// not hang because of a file argument.
const fileTime = 10 * time.Second

// Read reads a file with at most size bytes. It returns an error for anything
// other than a file or a pipe, such as a device, and for a pipe without data.
// nod reads every file that a user names with Read.
func Read(path string, size int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !readable(info.Mode()) {
		return nil, fmt.Errorf("open %s: not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !readable(info.Mode()) { // the file was replaced
		return nil, errors.Join(err, fmt.Errorf("open %s: not a regular file", path))
	}
	raw, err := io.ReadAll(io.LimitReader(patient{f}, size+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("read %s: no data within %s", path, fileTime)
	case err != nil:
		return nil, err
	case int64(len(raw)) > size:
		return nil, fmt.Errorf("read %s: too long (at most %d bytes)", path, size)
	case len(raw) == 0 && !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: the pipe is empty; does a program write to it?", path)
	}
	return raw, nil
}

// patient reads a file, and waits at most fileTime for each part.
type patient struct{ f *os.File }

func (p patient) Read(b []byte) (int, error) {
	_ = p.f.SetReadDeadline(time.Now().Add(fileTime)) // a regular file has no deadline
	return p.f.Read(b)
}

// readable reports whether reading a file of this mode can end. This is true
// for regular files, and for the pipes with which shells pass the output of a
// command.
func readable(m fs.FileMode) bool { return m.IsRegular() || m&fs.ModeNamedPipe != 0 }
