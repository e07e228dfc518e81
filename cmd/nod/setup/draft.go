package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/config/files"
)

// draft is a config file under construction. It keeps existing text and
// comments.
type draft struct {
	path  string
	fresh bool // the file does not exist yet
	was   []byte
	doc   yaml.Node
	// envFile is the file that stores secrets as variables. If empty, each
	// secret has its own file.
	envFile string
	env     []string // lines of envFile
}

const draftHeader = "# yaml-language-server: $schema=https://raw.githubusercontent.com/nodbridge/nod/main/deploy/nod.schema.json\n" +
	"# Configuration of nod. deploy/nod.example.yaml explains every key; nod config check validates it.\n\n"

func openDraft(path, envFile string) (*draft, error) {
	d := &draft{path: path, envFile: envFile}
	if envFile != "" {
		lines, err := files.Read(envFile, maxSettings)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if len(lines) > 0 {
			d.env = strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n")
		}
	}
	raw, err := files.Read(path, maxSettings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.fresh, raw = true, []byte("{}")
	case err != nil:
		return nil, err
	}
	d.was = raw
	if err := yaml.Unmarshal(raw, &d.doc); err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "%s", path).WithHint("fix the file first; nothing was changed")
	}
	if d.doc.Kind == 0 { // only comments
		d.doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	if d.doc.Content[0].Kind != yaml.MappingNode {
		return nil, bridge.Errorf(bridge.CodeInvalid, "%s: not a YAML mapping", path).WithHint("fix the file first; nothing was changed")
	}
	d.doc.Content[0].Style = 0
	return d, nil
}

// node returns the node at a path and creates it if it does not exist. A change
// of the node affects no other part of the file, even if they share an anchor.
func (d *draft) node(path []string) *yaml.Node {
	at := d.doc.Content[0]
	d.unshare(at)
	for _, key := range path {
		if at.Kind != yaml.MappingNode {
			*at = yaml.Node{Kind: yaml.MappingNode}
		}
		next := valueOf(at, key)
		if next == nil {
			next = &yaml.Node{}
			if other := merged(at, key); other != nil {
				next = cloned(other)
			}
			at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, next)
		}
		d.unshare(next)
		at = next
	}
	return at
}

// set sets the value of a key.
func (d *draft) set(path []string, value string) {
	n := d.node(path)
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return
	}
	n.Kind, n.Tag, n.Value, n.Style, n.Content = yaml.ScalarNode, "!!str", value, 0, nil
	if strings.Trim(value, "0123456789-") == "" {
		n.Style = yaml.DoubleQuotedStyle // keep numeric IDs as text
	}
}

// appendTo adds a value to a list unless the list already contains it.
func (d *draft) appendTo(path []string, value string) {
	n := d.node(path)
	switch one := *n; n.Kind {
	case yaml.SequenceNode:
	case yaml.ScalarNode: // a single text in place of a list
		*n = yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{&one}}
	default:
		*n = yaml.Node{Kind: yaml.SequenceNode}
	}
	if slices.ContainsFunc(n.Content, func(x *yaml.Node) bool { return x.Value == value }) {
		return
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value})
}

func (d *draft) destination(to string) {
	if route := d.node([]string{"routes", bridge.DefaultRoute}); route.Kind == 0 {
		*d.node([]string{"routes", bridge.DefaultRoute, "sessions"}) = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	}
	d.appendTo([]string{"routes", bridge.DefaultRoute, "to"}, to)
}

// secrets returns the directory for secrets, next to the config.
func (d *draft) secrets() string {
	return strings.TrimSuffix(d.path, filepath.Ext(d.path)) + ".secrets"
}

// environ returns the variables of this process and of envFile.
func (d *draft) environ() []string { return append(os.Environ(), d.env...) }

// keepVariable stores a secret in envFile and replaces a variable of the same
// name.
func (d *draft) keepVariable(path []string, value string) error {
	if path[0] == "agents" { // create the agent even if it has only a token
		if n := d.node(path[:2]); n.Kind == 0 {
			*n = yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		}
	}
	line := config.Variable(path...) + "=" + value
	if slices.Contains(d.env, line) {
		return nil
	}
	d.env = slices.DeleteFunc(d.env, func(s string) bool { return strings.HasPrefix(s, config.Variable(path...)+"=") })
	d.env = append(d.env, line)
	if err := os.MkdirAll(filepath.Dir(d.envFile), 0o755); err != nil {
		return err
	}
	return writeWhole(d.envFile, []byte(strings.Join(d.env, "\n")+"\n"))
}

// savedSecret returns the secret that an earlier run stored, or "" if there is
// none.
func (d *draft) savedSecret(name string) string {
	raw, err := files.Read(filepath.Join(d.secrets(), name), maxSettings)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// setBy returns the environment variable that sets a key in place of the
// draft, or "" if there is none.
func (d *draft) setBy(path []string) string {
	if d.envFile != "" {
		return "" // nod writes its variables
	}
	for _, name := range slices.Backward(config.Variables(path...)) {
		if os.Getenv(name) != "" {
			return name
		}
	}
	if n := d.find(path); n != nil && n.Kind == yaml.MappingNode {
		if name := valueOf(n, "env"); name != nil {
			return name.Value
		}
	}
	return ""
}

// secret stores a value in a separate file, which only the owner can read, and
// makes the key refer to that file. If the key already refers to a file, nod
// writes the value to that file.
func (d *draft) secret(path []string, name, value string) error {
	if d.envFile != "" {
		return d.keepVariable(path, value)
	}
	n := d.node(path)
	named := valueOf(n, "file")
	if n.Kind == yaml.ScalarNode && n.Value == value || n.Kind != 0 && named == nil && d.setBy(path) != "" {
		return nil // the config or the environment sets it
	}
	file := filepath.Join(d.secrets(), name)
	if named != nil {
		file = named.Value
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(d.path), file)
		}
	} else {
		relative := filepath.ToSlash(filepath.Join(filepath.Base(d.secrets()), name))
		n.Kind, n.Tag, n.Value, n.Style = yaml.MappingNode, "", "", yaml.FlowStyle
		n.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Value: "file"}, {Kind: yaml.ScalarNode, Value: relative}}
	}
	if was, err := files.Read(file, maxSettings); err == nil && strings.TrimSpace(string(was)) == value {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return writeWhole(file, []byte(value+"\n"))
}

// write writes the config, and reports whether it has changed.
func (d *draft) write() (bool, error) {
	var b bytes.Buffer
	if d.fresh {
		b.WriteString(draftHeader)
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&d.doc); err != nil {
		return false, err
	}
	var before, after any
	if !d.fresh && yaml.Unmarshal(d.was, &before) == nil && yaml.Unmarshal(b.Bytes(), &after) == nil && equalYAML(before, after) {
		return false, nil // only the layout differs; keep the file
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
		return false, err
	}
	if err := writeWhole(d.path, b.Bytes()); err != nil || !d.fresh {
		return true, err
	}
	return true, os.Chmod(d.path, 0o644) // the config contains no secrets, and a container reads it as another user
}

func equalYAML(a, b any) bool {
	x, err := yaml.Marshal(a)
	y, err2 := yaml.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
