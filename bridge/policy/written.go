package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

var (
	// output matches files that are usually not run. document matches those of
	// them that may contain examples, which tests may run. gitText matches
	// files with texts of commits, and temporary matches temporary files of all
	// programs.
	output    = lazyregexp.New(`(?i)\.(txt|log|out|md|csv|html|diff|patch|prof|cov|db|sqlite3?)$`)
	document  = lazyregexp.New(`(?i)\.(txt|md)$`)
	gitText   = lazyregexp.New(`(^|/)\.git/|\.gitconfig$|_(EDIT)?MSG$`)
	temporary = lazyregexp.New(`^/(private/)?(tmp|var/folders)/`)
	// hidden matches settings, hooks and startup files that programs read
	// without an argument. Most of them are hidden, and others are in a Git
	// repository.
	hidden = lazyregexp.New(`(^|/|>\s*")\.[A-Za-z_*?[\x01\x02]|(^|/)[^/]*\.git(/|$)|(^|/)(config(\.worktree)?|HEAD|gitdir|commondir|(pre|post)-[a-z-]+|` +
		`(prepare-commit|commit|applypatch)-msg|reference-transaction|push-to-checkout|fsmonitor-watchman|lefthook[^/]*|lint-staged\.[^/]*)$`)
	// harmlessHidden matches hidden files that start nothing.
	harmlessHidden = lazyregexp.New(`(^|/)\.([a-z]*ignore|(git)?keep|env(\.[\w.-]+)?|editorconfig)$`)
	// startDir matches directories of files that programs start, or read at
	// startup. Such directories of the project count as its files.
	startDir = lazyregexp.New(`(^|[/\s"'])(s?bin|etc|usr|opt|nix|snap|proc|shims|cron[a-z]*|LaunchAgents|LaunchDaemons|(site|dist)-packages|Startup)(/|$)|^/dev/(fd|pts)/|^[~/].*[\x01\x02][^/]*/`)
)

// starts reports whether programs may start a file, or read it at startup.
func (q *inquiry) starts(f string) bool {
	if path.IsAbs(q.where) {
		f = strings.TrimPrefix(f, strings.TrimSuffix(q.where, "/")+"/")
	}
	script := strings.ContainsAny(f, " \"'") // of awk
	outside := script || path.IsAbs(f) && !temporary.MatchString(f) || strings.HasPrefix(f, "~") || strings.HasPrefix(f, one) || strings.HasPrefix(f, many)
	return hidden.MatchString(f) && !harmlessHidden.MatchString(f) || outside && startDir.MatchString(f)
}

// candidates returns the files that a name may refer to: below the directories
// that the line changes to, and with the values of its variables.
func (q *inquiry) candidates(f string) []string {
	out := filesIn(f)
	for _, dir := range q.dirs {
		if f != "" && isOpen(f[:1]) {
			out = append(out, path.Join(dir, "x"))
		} else {
			out = append(out, under(dir, []string{f})...)
		}
	}
	if slices.ContainsFunc(out, func(f string) bool { return isOpen(f) }) {
		out = append(out, q.values...)
	}
	return out
}

// filesIn returns the files that a word may contain: alone, or as the value of
// an option, such as -vtDIR and type=local,dest=DIR.
func filesIn(w string) []string {
	out := []string{w}
	if strings.ContainsAny(w, " \"'") {
		return out
	}
	for n := 2; isOption(w) && n < len(w) && isLetter(w[n-1]); n++ {
		out = append(out, w[n:])
	}
	if fields := strings.FieldsFunc(w, func(r rune) bool { return r == '=' || r == ',' }); len(fields) > 1 {
		out = append(out, fields...)
	}
	return out
}

// under returns the locations of the relative files after a cd to a directory.
func under(dir string, files []string) []string {
	var out []string
	for _, f := range files {
		for _, f := range filesIn(f) {
			if dir != "" && !path.IsAbs(f) && !strings.HasPrefix(f, "~") {
				out = append(out, path.Join(dir, f))
			}
		}
	}
	return out
}

// runsWritten reports whether a line may run a file that it writes. It also
// returns true if the line may run a file of Git, which stores the texts of
// commits, or write a file that other programs start.
func (q *inquiry) runsWritten() bool {
	any := func(files []string, match func(string) bool) bool {
		return slices.ContainsFunc(files, func(f string) bool { return slices.ContainsFunc(q.candidates(f), match) })
	}
	code := func(f string) bool { // tests run the examples in documents
		return !output.MatchString(f) || document.MatchString(f) && (q.data || q.edits)
	}
	patch := func(f string) bool { return !changesGit[f] }
	if q.patches && (q.data || q.brings) && (q.fed || slices.ContainsFunc(q.written, patch)) {
		return true
	}
	open := slices.ContainsFunc(q.written, func(f string) bool { return isOpen(f) })
	return any(q.ran, gitText.MatchString) || any(slices.Concat(q.written, q.placed), q.starts) || open && q.made() ||
		len(q.ran) > 0 && len(q.written) > 0 && (slices.ContainsFunc(q.written, code) || slices.ContainsFunc(q.ran, output.MatchString))
}

// writers maps programs to the arguments with which they write a file.
var writers = map[string]*lazyregexp.Regexp{
	"git":   lazyregexp.New(`^-o|^--out`),
	"iconv": lazyregexp.New(`^-[a-zA-Z]*o|^--o`), "base64": lazyregexp.New(`^-[a-zA-Z]*o|^--o`), "tree": lazyregexp.New(`^-[a-zA-Z]*o`), "gofmt": lazyregexp.New(`^--?r`), // only rewrite rules change the behavior of code
	"lsof": lazyregexp.New(`^-D`), "file": lazyregexp.New(`^-[a-zA-Z]*C|^--c`), "xxd": anything, "tee": anything, "gzip": anything, "gunzip": anything, "xz": anything, "unzip": anything, "tar": anything,
}

var (
	anything = lazyregexp.New(``)
	// showsGit are the commands of git with --output, and changesGit those that
	// write files of the project.
	showsGit   = set("log diff show format-patch shortlog whatchanged diff-tree range-diff stash reflog")
	changesGit = set("apply mv update-index notes hash-object")
	// stores matches SQL that changes something.
	stores = lazyregexp.New(`(?i)\b(insert|update|create|replace|alter|drop|delete)\b`)
)

// writes records the files that a program writes.
func (q *inquiry) writes(name string, args []string) {
	first := strings.Join(args[:min(len(args), 1)], "")
	re := writers[name]
	if re != nil && (name != "git" || showsGit[first]) {
		q.options(args)
	}
	q.dashes = q.dashes || (copiers[name] || name == "touch" || name == "mkdir" || name == "tee") && namesOption(args)
	switch {
	case name == "cd" || name == "pushd":
		q.dirs = append(q.dirs, args...)
	case re != nil && slices.ContainsFunc(args, re.MatchString), name == "kubectl" && slices.Contains(args, "cp"):
		q.written = append(q.written, args...)
	case name == "git" && first == "worktree":
		for _, w := range args[1:] {
			if startDir.MatchString(w) {
				q.placed = append(q.placed, w)
			}
		}
	case name == "git" && changesGit[first]:
		q.written = append(q.written, first)
		if first == "mv" {
			q.copies(args[1:])
		}
	case copiers[name]:
		q.copies(args)
	}
}

// namesOption reports whether words create a file whose name is an option,
// where a pattern could expand to it.
func namesOption(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return (slices.Contains(words, "--") || strings.Contains(w, "/")) && isOption(path.Base(w))
	})
}

// elsewhere matches the option of copiers that names a directory.
var elsewhere = lazyregexp.New(`^-[a-zA-Z]*t|^--t`)

// copies records the new names of copied files. The new name is the last
// operand. If an option may contain the directory, every argument is recorded.
// A file that is copied to a directory keeps its name, which matters if it is a
// hidden file.
func (q *inquiry) copies(args []string) {
	operands := slices.DeleteFunc(slices.Clone(args), isOption)
	if len(operands) == 0 {
		q.written = append(q.written, args...)
		return
	}
	from, to := operands[:len(operands)-1], operands[len(operands)-1]
	if len(from) == 0 { // a link
		from, to = operands, "."
	}
	q.written = append(q.written, to)
	named := slices.ContainsFunc(args, elsewhere.MatchString)
	if begin := slices.Index(args, operands[0]); named || slices.ContainsFunc(args[begin:], isOption) {
		q.written = append(q.written, args...)
	}
	dir := named || len(from) > 1 || strings.HasPrefix(to, "~") || strings.HasSuffix(to, ".") || strings.HasSuffix(to, "/")
	for _, f := range from {
		if base := path.Base(f); strings.HasPrefix(base, ".") && (dir || base != f) && !temporary.MatchString(to+"/") {
			q.written = append(q.written, path.Join(to, base))
		}
	}
}

// habitWrites records the files that a program with parsed arguments writes.
func (q *inquiry) habitWrites(name string, r reader, a arguments) {
	scripts := strings.Join(a.texts, " ")
	switch {
	case name == "sed" && slices.Contains(a.options, "-i"):
		a.files = a.files[len(a.files)-len(sedFiles(a)):]
		q.written = append(q.written, a.files...)
		for _, suffix := range r.valuesOf(a, "-i") {
			for _, f := range a.files {
				q.written = append(q.written, f+suffix)
			}
		}
	case (name == "awk" || name == "gawk") && strings.Contains(scripts, ">"):
		q.written = append(q.written, scripts)
	case name == "sqlite3" && len(a.files) > 0 && (len(a.files) == 1 || stores.MatchString(strings.Join(a.files[1:], " "))):
		q.written = append(q.written, a.files[0])
	case name == "curl":
		out := r.valuesOf(a, "-o -D -c --output --dump-header --cookie-jar --output-dir")
		for _, w := range r.valuesOf(a, "-w --write-out") {
			for _, m := range outputFile.FindAllStringSubmatch(w, -1) {
				out = append(out, m[1])
			}
			if f, ok := strings.CutPrefix(w, "@"); ok {
				q.ran = append(q.ran, f)
			}
		}
		if slices.ContainsFunc(a.options, func(o string) bool { return o == "-O" || o == "--remote-name" }) {
			out = append(out, a.files...)
		}
		q.written = append(q.written, slices.DeleteFunc(out, func(f string) bool { return f == "-" || f == "/dev/null" })...)
	}
}

// outputFile matches a file in a format of curl.
var outputFile = lazyregexp.New(`%output\{(?:>>)?([^}]*)`)

// valuesOf returns the values of some options.
func (r reader) valuesOf(a arguments, names string) []string {
	var out []string
	n := 0
	for _, o := range a.options {
		letter := strings.TrimPrefix(o, "-")
		short := len(letter) == 1 && (strings.Contains(r.takes, letter) || strings.Contains(r.may, letter))
		if !short && !listed(r.valued, o) && !listed(r.with, o) {
			continue
		}
		if n < len(a.values) && listed(names, o) {
			out = append(out, a.values[n])
		}
		n++
	}
	return out
}

// outputOption matches the options with which tools select their output files.
var outputOption = lazyregexp.New(`(?i)^--?(o|out[a-z-]*|dest[a-z-]*|junit-?xml|[a-z]+profile)$`)

// places records the output files of a tool of the project.
func (q *inquiry) places(name, sub string, args []string) {
	dir := after(args, "-C")
	for n, w := range args {
		option, value, _ := strings.Cut(w, "=")
		if outputOption.MatchString(option) && value == "" && n+1 < len(args) {
			value = args[n+1]
		}
		switch {
		case name == "kubectl" && strings.HasPrefix(w, "-o"): // a format
		case outputOption.MatchString(option):
			q.placed = append(append(q.placed, value), under(dir, []string{value})...)
		case name == "docker" && strings.HasPrefix(w, "-o"):
			q.placed = append(q.placed, w)
		}
	}
	if name == "git" && (sub == "clone" || sub == "submodule") {
		last := strings.Join(args[max(len(args), 1)-1:], "")
		if strings.Contains(last, ":") {
			last = strings.TrimSuffix(path.Base(last), ".git")
		}
		q.placed = append(q.placed, last)
	}
}
