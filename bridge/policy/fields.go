package policy

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Fields that hold commands, in lower case and without separators.
var (
	commandNames = set(`command cmd argv script program executable commands cmds commandline cmdline shellcommand
		bashcommand shellscript`)
	listNames    = set("commands cmds")
	programNames = set("program executable")
	argsNames    = set("args arguments cmdargs commandargs programargs")
)

// Fields that hold paths. A field whose last word is in pathEnds holds a path
// too. A field with a weak name holds a path in some tools only.
var (
	pathNames = set(`filepath path filename notebookpath file files paths filepaths filenames uri uris url urls
		directory directories dir dirs cwd workdir workingdirectory workingdir currentdirectory folder oldpath newpath
		oldfile newfile absolutepath relativepath targetfile targetpath sourcepath destinationpath sourcefile destfile
		outputpath inputpath outputfile inputfile textdocument`)
	pathEnds = set(`path paths file files dir dirs directory directories folder folders filename filenames filepath
		uri`)
	weakNames     = set("source sources destination dest target targets src dst from to root roots location document")
	urlNames      = set("uri uris url urls")
	locationNames = set("cwd directory dir workdir workingdirectory workingdir currentdirectory")
)

// Fields that do not change the effect of an input: explanations, limits, and
// switches that are off.
var (
	harmlessTexts   = set("description explanation justification reason")
	harmlessNumbers = set("timeout timeoutms timeoutseconds maxoutputtokens")
	harmlessOff     = set("runinbackground background isbackground dangerouslydisablesandbox")
	// contentNames are fields with text that a tool writes to a file or reads
	// from it.
	contentNames = set(`content contents filetext text oldtext newtext oldstring newstring oldstr newstr newsource inserttext edits
		replaceall offset limit insertline viewrange cellid celltype editmode encoding pages`)
)

// normal returns a field name in lower case and without separators.
func normal(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		case r == '_' || r == '-' || r == ' ' || r == '.':
			return -1
		}
		return r
	}, name)
}

// lastWord returns the last word of a name such as outputPath or log_file.
func lastWord(name string) string {
	n := len(name)
	for n > 0 && name[n-1] >= 'a' && name[n-1] <= 'z' {
		n--
	}
	if n > 0 && name[n-1] >= 'A' && name[n-1] <= 'Z' {
		n--
	}
	return strings.ToLower(name[n:])
}

func isPathName(name string) bool {
	return pathNames[normal(name)] || weakNames[normal(name)] || pathEnds[lastWord(name)]
}

// file is a path in an input.
type file struct {
	name     field
	raw      string
	where    string // location of the action
	abs      string // absolute and clean; empty if unknown
	bad      string // reason why abs is empty
	weak     bool   // a single word in a field that may not be a path
	location bool   // a working directory
}

// newFile parses the path in a field.
func newFile(full field, raw, where string) file {
	name := full[len(full)-1]
	f := file{name: full, raw: raw, where: where, location: locationNames[normal(name)]}
	f.abs, f.bad = cleanPath(raw, where)
	isWord := raw != "" && span(raw, func(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }) == raw
	f.weak = weakNames[normal(name)] && isWord
	return f
}

// cleanPath returns a path in a form that every program reads in the same way:
// absolute, without . or .. and with plain characters only. If this is not
// possible, it returns the reason.
func cleanPath(s, where string) (clean, bad string) {
	for n := range len(s) {
		if c := s[n]; !isAlnum(c) && strings.IndexByte("/._-+@,=#()~ ", c) < 0 {
			return "", "has a character that tools can read in different ways"
		}
	}
	switch {
	case s == "":
		return "", "is empty"
	case s[0] == '~':
		return "", "starts with ~"
	case path.Clean(s) != s || s == ".." || strings.HasPrefix(s, "../"):
		return "", "is not clean: it contains .., . or an extra slash"
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment != "." && (strings.TrimRight(segment, ".") != segment || strings.TrimSpace(segment) != segment) {
			return "", "has a name that starts or ends with a space or ends with a dot"
		}
	}
	if path.IsAbs(s) {
		return s, ""
	}
	base, bad := cleanPath(where, "")
	if bad != "" {
		return "", "is relative, and the location is not an absolute, clean path"
	}
	return path.Join(base, s), ""
}

// readings returns all ways in which a tool could read a path, for ask and deny
// rules.
func (f file) readings() []string {
	out := []string{f.raw}
	if decoded, err := url.PathUnescape(f.raw); err == nil {
		out = append(out, decoded)
	}
	for _, s := range slices.Clone(out) {
		s, _, _ = strings.Cut(s, "\x00")
		s = strings.ReplaceAll(strings.TrimSpace(s), `\`, "/")
		if scheme, rest, ok := strings.Cut(s, ":"); ok && (strings.EqualFold(scheme, "file") || len(scheme) == 1) {
			s = rest
			after, hasHost := strings.CutPrefix(rest, "//")
			host, local, _ := strings.Cut(after, "/")
			if hasHost && (host == "" || host == "localhost") {
				s = "/" + local
			}
		}
		s = strings.TrimPrefix(s, "~")
		for _, base := range []string{f.where, ""} {
			full := s
			if !path.IsAbs(full) {
				full = base + "/" + full
			}
			clean := path.Clean("/" + full)
			out = append(out, clean, clean+"/", strings.TrimRight(clean, ". "))
		}
	}
	return out
}

// isURL reports whether a field holds the URL of something other than a file.
func isURL(name, s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	named := len(scheme) > 1 && span(scheme, isLetter) == scheme && !strings.EqualFold(scheme, "file")
	return ok && named && rest != "" && urlNames[normal(name)]
}

// field is the name of a field, after the names of the enclosing objects. Items
// of a list have the name of the list. The names are not joined to one text,
// because a name can contain a dot.
type field []string

func (f field) String() string { return strings.Join(f, ".") }

// inner returns the name of a field in an object.
func (f field) inner(name string) field { return append(slices.Clip(f), name) }

// top returns the name of a field that is not in another object. It returns ""
// for other fields, and for a name with a dot, because a tool can read it as the
// name of an inner field.
func (f field) top() string {
	if len(f) != 1 || strings.Contains(f[0], ".") {
		return ""
	}
	return f[0]
}

// content reports whether a field contains text that a tool writes to files.
func (f field) content() bool {
	if len(f) == 2 && (f[0] == "edits" || f[0] == "diffs") {
		f = f[1:]
	}
	return contentNames[normal(f.top())]
}

// leaf is a value of an input that is neither a command nor a path.
type leaf struct {
	name  field
	value any
}

// harmless reports whether a leaf cannot affect a command.
func (l leaf) harmless() bool {
	name := normal(l.name.top())
	switch v := l.value.(type) {
	case string:
		return harmlessTexts[name] || name == "shell" && isKnownShell(v)
	case bool:
		return !v && harmlessOff[name]
	case nil:
		return false
	}
	return isNumber(l.value) && harmlessNumbers[name]
}

func isKnownShell(s string) bool {
	dir, name := path.Split(s)
	dirs := []string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}
	return knownShells[name] && slices.Contains(dirs, dir)
}

// otherShell returns the shell in the name of a tool if that shell does not
// read plain lines.
func otherShell(tool string) string {
	other := func(r rune) bool { return r > '~' || !isLetter(byte(r)) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(tool), other) {
		if otherShells[word] {
			return word
		}
	}
	for _, s := range []string{"powershell", "pwsh", "nushell"} {
		if strings.Contains(strings.ToLower(tool), s) {
			return s
		}
	}
	return ""
}
