package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailscale/hujson"
)

// byteOrderMark may start a text file. Programs on Windows write it, and agents
// ignore it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readSettingsFile returns the content of a settings file. It returns
// fs.ErrNotExist if there is none. It reads no device and no pipe, which could
// block, and refuses a link whose target is missing, because writing would
// replace the link.
func readSettingsFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if target, linked := os.Readlink(path); linked == nil {
			return nil, fmt.Errorf("is a link to %s, which does not exist", target)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	return os.ReadFile(path)
}

// linkTarget returns the file to which a link leads, or the path itself.
func linkTarget(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// parseSettings reads a JSON object with comments. It refuses two members of one
// name: nod would change the first, and agents use the last.
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

// repeated returns the name of a member that an object of the document has
// twice, or "".
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
