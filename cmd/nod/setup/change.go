package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
)

// put sets the member at a path of two names, and creates the parent if needed.
// If the member already has the value, it changes nothing.
func put(doc *hujson.Value, path []string, value any) error {
	parent := "/" + path[0]
	if now := doc.Find(parent + "/" + escaped.Replace(path[1])); now != nil {
		plain := now.Clone()
		plain.Standardize()
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if reflect.DeepEqual(plainJSON(plain.Pack()), plainJSON(raw)) {
			return nil
		}
	}
	if doc.Find(parent) == nil {
		if err := doc.Patch([]byte(`[{"op":"add","path":"` + parent + `","value":{}}]`)); err != nil {
			return err
		}
	}
	op, err := json.Marshal([]map[string]any{{"op": "add", "path": parent + "/" + escaped.Replace(path[1]), "value": value}})
	if err != nil {
		return err
	}
	return doc.Patch(op)
}

// prune removes a member, and its parent if the parent is then empty.
func prune(doc *hujson.Value, member, parent string) error {
	for _, path := range []string{member, parent} {
		v := doc.Find(path)
		if v == nil {
			return nil
		}
		if o, ok := v.Value.(*hujson.Object); ok && path == parent && len(o.Members) > 0 {
			return nil
		}
		if err := doc.Patch([]byte(`[{"op":"remove","path":"` + path + `"}]`)); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the file as a JSON object, with comments.
func (s *Settings) parse(raw []byte) (hujson.Value, error) {
	doc, err := parseSettings(raw)
	if err != nil {
		return doc, bridge.Errorf(bridge.CodeInvalid, "%s: %v", s.Path, err).WithHint("fix the file first; nothing was changed")
	}
	return doc, nil
}

// fileChange is the content of a settings file before and after an edit.
type fileChange struct {
	raw      []byte // content of the file; empty if the file is missing
	was, now []byte // as JSON
	missing  bool   // the file did not exist
}

// changes reports whether the edit has an effect.
func (c fileChange) changes() bool { return !bytes.Equal(c.was, c.now) }

// change applies an edit to the file, which may not exist yet. The rest of the
// file stays unchanged, byte for byte.
func (s *Settings) change(edit func(*hujson.Value) error) error {
	c, err := s.edited(edit)
	if err != nil {
		return err
	}
	switch {
	case s.planned != nil:
		*s.planned = c
		return nil
	case s.Print:
		_, err := s.Out.Write(c.now)
		return err
	case !c.changes() || c.missing && s.Undo:
		fmt.Fprintf(s.Talk, "nod: %s is up to date\n", s.Path)
		return nil
	}
	if err := writeWhole(s.Path, c.now); err != nil {
		return err
	}
	done := "added nod's entries to %s; to remove them, use --undo"
	if s.Undo {
		done = "removed nod's entries from %s"
	}
	fmt.Fprintf(s.Talk, "nod: "+done+"\n", s.Path)
	return nil
}

// edited returns the result of an edit of the file.
func (s *Settings) edited(edit func(*hujson.Value) error) (fileChange, error) {
	was, err := ReadFile(s.Path)
	c := fileChange{raw: was, was: was, missing: errors.Is(err, fs.ErrNotExist)}
	if c.missing || err == nil && len(bytes.TrimSpace(was)) == 0 {
		c.was, err = []byte("{}\n"), nil
	}
	if err != nil {
		return c, bridge.Errorf(bridge.CodeInvalid, "%s: %v", s.Path, err).WithHint("fix the file first; nothing was changed")
	}
	doc, err := s.parse(c.was)
	if err != nil {
		return c, err
	}
	if a, known := agentNamed(s.agent); known && !s.Undo {
		if err := a.accepts(s.Path, c.was); err != nil {
			return c, err
		}
	}
	if target, out := outside(s.Path); out {
		return c, bridge.Errorf(bridge.CodeInvalid, "%s: is a link to %s, outside of this directory", s.Path, target).
			WithHint("name that file with --file if you want to change it; nothing was changed")
	}
	before := doc.Pack()
	if err := edit(&doc); err != nil {
		return c, err
	}
	mark := c.was[:len(c.was)-len(bytes.TrimPrefix(c.was, byteOrderMark))]
	if c.now = doc.Pack(); bytes.Equal(c.now, before) {
		c.now = c.was
		return c, nil
	}
	if pretty, ok := indented(c.now); ok && (c.missing || isIndented(c.was[len(mark):])) {
		c.now = pretty
	}
	c.now = append(slices.Clip(mark), c.now...)
	return c, nil
}

// indented formats JSON with two spaces, like the agents do. It returns false
// for JSON with comments, which it cannot format.
func indented(raw []byte) ([]byte, bool) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return nil, false
	}
	b.WriteByte('\n')
	return b.Bytes(), true
}

func isIndented(raw []byte) bool {
	pretty, ok := indented(raw)
	return ok && bytes.Equal(bytes.TrimSpace(pretty), bytes.TrimSpace(raw))
}

// writeWhole replaces a file atomically, so that no one reads an incomplete
// file.
func writeWhole(path string, content []byte) error {
	path = linkTarget(path) // write to the target and keep the link
	dir, mode := filepath.Dir(path), fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".nod-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // does nothing after the rename
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
