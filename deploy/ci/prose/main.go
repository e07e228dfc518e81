// Command prose reports wording that the writing guide rejects, in comments and
// strings of source code and in the text of documents. It takes files and
// directories, and exits with 1 if it finds more hits than allowed.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// hit is one match of a rule.
type hit struct {
	path string
	line int
	rule rule
	text string
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("prose", flag.ContinueOnError)
	flags.SetOutput(stderr)
	most := flags.Int("max", 0, "number of hits to accept, for a tree that is being cleaned up")
	allowList := flags.String("allow", "", "file of accepted hits, one `RULE FILE TEXT` a line")
	counts := flags.Bool("counts", false, "print the number of hits per rule instead of each hit")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	allowed, err := readAllowList(*allowList)
	if err != nil {
		fmt.Fprintln(stderr, "prose:", err)
		return 2
	}
	hits, err := check(flags.Args(), allowed)
	if err != nil {
		fmt.Fprintln(stderr, "prose:", err)
		return 2
	}
	if *counts || len(hits) > *most {
		report(stdout, hits, *counts)
	}
	for _, a := range allowed {
		if !a.used {
			fmt.Fprintf(stderr, "prose: %s: unused line %q; remove it\n", *allowList, a.line)
			return 1
		}
	}
	if len(hits) > *most {
		fmt.Fprintf(stderr, "prose: %d hits, %d accepted; docs/contribute/writing.md explains the rules\n", len(hits), *most)
		return 1
	}
	return 0
}

func report(w io.Writer, hits []hit, counts bool) {
	if !counts {
		for _, h := range hits {
			fmt.Fprintf(w, "%s:%d: %s: %q; write: %s\n", h.path, h.line, h.rule.name, h.text, h.rule.fix)
		}
		return
	}
	per := map[string]int{}
	var names []string
	for _, h := range hits {
		if per[h.rule.name]++; per[h.rule.name] == 1 {
			names = append(names, h.rule.name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return per[b] - per[a] })
	for _, name := range names {
		fmt.Fprintf(w, "%5d %s\n", per[name], name)
	}
}

// accepted is one line of the allow list.
type accepted struct {
	line, rule, file, text string
	used                   bool
}

func readAllowList(path string) ([]*accepted, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []*accepted
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s: invalid line %q; write RULE FILE TEXT", path, line)
		}
		out = append(out, &accepted{line: line, rule: fields[0], file: fields[1], text: fields[2]})
	}
	return out, nil
}

// skippedFolders are directories without text for people, or without files of
// this project.
var skippedFolders = []string{".git", "node_modules", "testdata", "dist", "bin", "images", "pages", "prose"}

func check(roots []string, allowed []*accepted) ([]hit, error) {
	var hits []hit
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
				return filepath.SkipDir
			case d.IsDir():
				return nil
			}
			found, err := checkFile(filepath.ToSlash(path), allowed)
			hits = append(hits, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return hits, nil
}

func checkFile(path string, allowed []*accepted) ([]hit, error) {
	read := readerOf(path)
	if read == nil {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var hits []hit
	for _, p := range read(string(raw)) {
		for _, r := range rules {
			if r.kinds&p.kind == 0 {
				continue
			}
			for _, at := range r.pattern.FindAllStringIndex(p.text, -1) {
				h := hit{path: path, line: p.lineAt(at[0]), rule: r, text: strings.TrimSpace(p.text[at[0]:at[1]])}
				if r.except != nil && r.except.MatchString(around(p.text, at)) || isAccepted(allowed, h, around(p.text, at)) {
					continue
				}
				hits = append(hits, h)
			}
		}
	}
	return hits, nil
}

// around returns a match with the text next to it, for exceptions.
func around(text string, at []int) string {
	const context = 30 // bytes on both sides
	return text[max(0, at[0]-context):min(len(text), at[1]+context)]
}

func isAccepted(allowed []*accepted, h hit, near string) bool {
	for _, a := range allowed {
		if a.rule == h.rule.name && a.file == h.path && strings.Contains(near, a.text) {
			a.used = true
			return true
		}
	}
	return false
}
