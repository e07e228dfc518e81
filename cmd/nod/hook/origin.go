package hook

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/hooks"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/config/files"
)

// originOf returns the data about its agent that the process of the hook has.
func originOf(agent hooks.Agent, in *dialect.HookInput) hooks.Origin {
	o := hooks.Origin{Entrypoint: os.Getenv(entrypointEnv)}
	if agent.Name == "codex" && in.Event() == agent.Permission {
		o.Reviewed = reviewed(in.Text("transcript_path"))
	}
	return o
}

// reviewed reports whether Codex lets a model review actions that need
// approval. The input of a hook does not contain this, but the transcript of
// the thread does. For a thread without a transcript, the config of Codex
// decides.
func reviewed(transcript string) bool {
	reviewer, known := false, false
	backward(transcript, func(line []byte) bool {
		reviewer, known = codex.Reviewer(line)
		return !known
	})
	if known {
		return reviewer
	}
	home, err := caller.CodexHome()
	if err != nil {
		return false
	}
	raw, err := files.Read(filepath.Join(home, "config.toml"), caller.MaxInput)
	return err == nil && codex.Reviewed(raw)
}

const (
	// tailBlock is the size of the blocks in which nod reads a transcript from
	// its end, and maxTail limits the total.
	tailBlock, maxTail = 256 << 10, 64 << 20
)

// backward calls a function with the lines of a file, starting with the last
// line, until it returns false. It skips files that are not regular files.
func backward(path string, line func([]byte) (more bool)) {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	var rest []byte // end of a line that starts in an earlier block
	for end := info.Size(); end > 0 && info.Size()-end < maxTail; {
		size := min(tailBlock, end)
		end -= size
		block := make([]byte, size, size+int64(len(rest)))
		if _, err := f.ReadAt(block, end); err != nil && err != io.EOF {
			return
		}
		lines := bytes.Split(append(block, rest...), []byte("\n"))
		first := 1
		if end == 0 {
			first = 0
		}
		for n := len(lines) - 1; n >= first; n-- {
			if !line(lines[n]) {
				return
			}
		}
		rest = bytes.Clone(lines[0])
	}
}

// withCall adds the ID of the call to a permission prompt of Claude Code. Only
// the transcript has this ID, and without it, reports about identical calls
// cannot be told apart. Any other input stays unchanged.
func withCall(body []byte) []byte {
	finder, transcript, ok := claudecode.NewCallFinder(body)
	end := bytes.LastIndexByte(body, '}')
	if !ok || end < 0 {
		return body
	}
	backward(transcript, finder.Line)
	id, err := json.Marshal(finder.ID)
	if finder.ID == "" || err != nil {
		return body
	}
	return slices.Concat(body[:end], []byte(`,"tool_use_id":`), id, body[end:])
}
