package broker

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readLua returns the lines of each script by its name, without comments.
func readLua(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("lua/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	comment := regexp.MustCompile(`(?m)(^|\s)--.*$`)
	out := map[string]string{}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = comment.ReplaceAllString(string(raw), "")
	}
	return out
}

// TestRecordFields checks that base.lua lists the fields of a record as
// recordFields does.
func TestRecordFields(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("lua/base.lua")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, f := range recordFields {
		fmt.Fprintf(&want, "--   %-4s %-7s %s\n", f.name, f.format, f.meaning)
	}
	const begin, end = "recordFields of record.go:\n", "local call"
	_, rest, found := strings.Cut(string(raw), begin)
	got, _, _ := strings.Cut(rest, end)
	if !found || got != want.String() {
		t.Errorf("base.lua does not have this list after %q and before %q:\n%s", begin, end, want.String())
	}
}

// notRecords are the scripts whose first key is not a record.
var notRecords = []string{"audit.lua", "beat.lua", "claim.lua", "grant.lua", "hold.lua", "inbox.lua", "lease.lua", "release.lua", "report.lua", "seal.lua", "stop.lua", "trim.lua", "archive.lua", "turn.lua"}

var (
	onRecord = regexp.MustCompile(`call\('H[A-Z]+', (?:KEYS\[(?:1|13|14)\]|r\.key|key),`)
	inList   = regexp.MustCompile(`local set = \{`)
	added    = regexp.MustCompile(`set\[#set \+ 1\] = |names\[#names \+ 1\] = |put\(`)
	literal  = regexp.MustCompile(`'([a-z]+)(\d*)'( \.\.)?`)
)

// fieldsIn returns the fields that a script names: in commands on the hash of a
// record, and in the lists that it passes to one.
func fieldsIn(code string) []string {
	var out []string
	for _, list := range []struct {
		begin *regexp.Regexp
		end   string
	}{{onRecord, ")"}, {inList, "}"}, {added, ",\n"}} {
		for _, at := range list.begin.FindAllStringIndex(code, -1) {
			out = append(out, named(code[at[1]:], list.end)...)
		}
	}
	return out
}

// named returns the fields in code up to one of the characters of end that is
// not in brackets.
func named(code, end string) []string {
	depth := 0
	stop := strings.IndexFunc(code, func(c rune) bool {
		switch {
		case depth == 0 && strings.ContainsRune(end, c):
			return true
		case strings.ContainsRune("({[", c):
			depth++
		case strings.ContainsRune(")}]", c):
			depth--
		}
		return false
	})
	var out []string
	for _, m := range literal.FindAllStringSubmatch(code[:stop], -1) {
		name := m[1]
		if m[2] != "" || m[3] != "" {
			name += "#"
		}
		out = append(out, name)
	}
	return out
}

// TestScriptFields checks that the scripts use the fields of recordFields and
// no others, and that they use all of them.
func TestScriptFields(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for file, code := range readLua(t) {
		if slices.Contains(notRecords, file) {
			continue
		}
		for _, name := range fieldsIn(code) {
			used[name] = true
			if !slices.ContainsFunc(recordFields, func(f recordField) bool { return f.name == name }) {
				t.Errorf("%s uses the field %q, which is not among recordFields", file, name)
			}
		}
	}
	for _, f := range recordFields {
		if !used[f.name] {
			t.Errorf("no script uses the field %q", f.name)
		}
	}
}

// TestKeysAreBuiltOnce checks that key names come from keys.go alone: the
// scripts and the rest of the package only pass them on.
func TestKeysAreBuiltOnce(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`call\('([A-Z]+)', ?([^,()]*)`)
	passed := regexp.MustCompile(`^(KEYS\[[^\]]+\]|r\.key|key)$`)
	for file, code := range readLua(t) {
		for _, m := range command.FindAllStringSubmatch(code, -1) {
			if m[1] != "PUBLISH" && !passed.MatchString(m[2]) {
				t.Errorf("%s calls %s with a key that it was not passed: %q", file, m[1], m[2])
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	built := regexp.MustCompile(`\.prefix *\+|prefix *\+ *"|\+ *\.?prefix|"nod:|keys\.in\(|":\{`)
	for _, name := range files {
		if name == "keys.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(raw), "\n") {
			if built.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "//") {
				t.Errorf("%s:%d builds a key: %s", name, n+1, strings.TrimSpace(line))
			}
		}
	}
}
