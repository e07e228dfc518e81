package cli

import (
	"io"
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/terminal"
)

// output is the standard output of a command. It remembers its first error,
// because commands do not check the result of each print.
type output struct {
	io.Writer
	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Unwrap returns the underlying stream, for code that needs its file.
func (o *output) Unwrap() io.Writer { return o.Writer }

// lost returns the reason that the output is incomplete, or nil.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return bridge.Wrap(bridge.CodeInternal, o.err, "the output is incomplete")
}

// Plain returns the file of a stream if it has one, so that a child process can
// write to it directly.
func Plain(w io.Writer) io.Writer {
	if f, ok := terminal.File(w); ok {
		return f
	}
	return w
}
