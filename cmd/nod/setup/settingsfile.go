package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	exact "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// byteOrderMark may start a text file. Programs on Windows write it, and agents
// ignore it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// maxSettings limits the size of a file that nod reads, in bytes. It is large
// because Claude Code keeps its history in the file with its servers.
const maxSettings = 64 << 20

// ReadFile returns the content of a file that another program wrote. It returns
// fs.ErrNotExist if the file does not exist. It refuses devices and pipes,
// which could block or never end, and files that are too long. It also refuses
// a link whose target is missing, because writing would replace the link.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if target, linked := os.Readlink(path); linked == nil {
			return nil, fmt.Errorf("is a link to %s, which does not exist", target)
		}
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > maxSettings:
		return nil, fmt.Errorf("is longer than %d MiB", maxSettings>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSettings))
}

// outside returns the target of a link in this directory, and reports whether
// the target is outside of this directory. A repository can contain such a
// link. A path that itself leads out of this directory was named by the user.
func outside(path string) (target string, out bool) {
	if !filepath.IsLocal(path) {
		return "", false
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // the directory itself may be reached through a link
	}
	if err != nil {
		return path, true
	}
	target, err = filepath.EvalSymlinks(dir + string(filepath.Separator) + path) // Join would drop "link/.."
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {            // a directory above it may be a link, too
		target, out = outside(filepath.Dir(path))
		return filepath.Join(target, filepath.Base(path)), out
	}
	if err != nil {
		return path, true
	}
	below, err := filepath.Rel(dir, target)
	return target, err != nil || !filepath.IsLocal(below)
}

// linkTarget returns the target of a link, or the path itself.
func linkTarget(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// decode decodes JSON in the same way as agents: the names of members are
// case-sensitive.
func decode(raw []byte, v any) error {
	return exact.Unmarshal(raw, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// parseSettings reads a JSON object with comments. It refuses two members with
// the same name: nod would change the first, but agents use the last.
func parseSettings(raw []byte) (hujson.Value, error) {
	doc, err := hujson.Parse(bytes.TrimPrefix(raw, byteOrderMark))
	if err != nil {
		return doc, err
	}
	if _, ok := doc.Value.(*hujson.Object); !ok {
		return doc, errors.New("not a JSON object")
	}
	if name := repeated(doc); name != "" {
		return doc, fmt.Errorf("the member %q occurs twice, and agents ignore one of them", name)
	}
	return doc, nil
}

// repeated returns a name that two members of the same object have, or "".
func repeated(doc hujson.Value) string {
	for v := range doc.All() {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range o.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				return name
			}
			seen[name] = true
		}
	}
	return ""
}
