package main

import (
	"bytes"
	"io"
	"os"

	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/hooks"
	"github.com/nodbridge/nod/cmd/nod/setup"
)

// originOf returns what the hook's process knows about its agent.
func originOf(agent hooks.Agent, in *dialect.HookInput) hooks.Origin {
	o := hooks.Origin{Entrypoint: os.Getenv(entrypointEnv)}
	if agent.Name == "codex" && in.Event() == agent.Permission {
		o.Reviewed = reviewed(in.Text("transcript_path"))
	}
	return o
}

// reviewed reports whether Codex lets a model review what needs approval. The
// input of a hook does not say so, but the transcript of the thread does. For a
// thread without one, the config of Codex decides.
func reviewed(transcript string) bool {
	if reviewer, known := lastLine(transcript, codex.Reviewer); known {
		return reviewer
	}
	home, err := codexHome()
	if err != nil {
		return false
	}
	return setup.CodexReviewer(home)
}

const (
	// tailBlock is the size of the parts in which the end of a transcript is read,
	// and maxTail limits how much of it is read.
	tailBlock, maxTail = 256 << 10, 256 << 20
)

// lastLine returns what the last line of a file says that says something. It
// reads the file from its end, and no file that is not a regular one.
func lastLine(path string, says func(line []byte) (value, ok bool)) (value, ok bool) {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return false, false
	}
	f, err := os.Open(path)
	if err != nil {
		return false, false
	}
	defer f.Close()
	var rest []byte // the end of the line that begins in an earlier block
	for end := info.Size(); end > 0 && info.Size()-end < maxTail; {
		size := min(tailBlock, end)
		end -= size
		block := make([]byte, size, size+int64(len(rest)))
		if _, err := f.ReadAt(block, end); err != nil && err != io.EOF {
			return false, false
		}
		lines := bytes.Split(append(block, rest...), []byte("\n"))
		first := 1
		if end == 0 {
			first = 0
		}
		for n := len(lines) - 1; n >= first; n-- {
			if value, ok = says(lines[n]); ok {
				return value, true
			}
		}
		rest = bytes.Clone(lines[0])
	}
	return false, false
}
