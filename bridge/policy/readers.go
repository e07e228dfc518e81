package policy

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// readers are the programs that only read, with the arguments that they may
// have. The list covers GNU, BSD, macOS and BusyBox: it omits an option that
// does more in any of them.
var readers = map[string]reader{
	"cat":      {flags: "AbEensTtuv"},
	"head":     {flags: "qv", takes: "nc", numbers: true, with: "--lines --bytes"},
	"tail":     {flags: "qv", takes: "nc", numbers: true, with: "--lines --bytes"},
	"wc":       {flags: "clmwL", long: "--lines --words --bytes --chars"},
	"nl":       {flags: "p", takes: "bdfhilnsvw"},
	"ls":       {flags: "1AaBbCcdFfGghiklmnopQqRrSstuUvXxZ", long: "--all --almost-all --directory --human-readable --recursive --reverse --size", with: "--color --sort --time --time-style"},
	"du":       {flags: "abchkmsx0", takes: "d", long: "--summarize --human-readable --all --total", with: "--max-depth"},
	"df":       {flags: "ahHiklPT", long: "--human-readable"},
	"file":     {flags: "bi", long: "--brief --mime --mime-type"},
	"cut":      {flags: "sn", takes: "bcdf", long: "--only-delimited --complement", with: "--delimiter --fields --characters --bytes --output-delimiter"},
	"uniq":     {flags: "cdiu", takes: "fsw", most: 1, long: "--count --repeated --unique --ignore-case"},
	"column":   {flags: "t", takes: "s", none: true},
	"tr":       {flags: "Ccds", data: true, long: "--delete --complement --squeeze-repeats"},
	"sort":     {flags: "bdfghinruVsz", takes: "kt", long: "--reverse --unique --numeric-sort --human-numeric-sort --version-sort --ignore-case --stable", with: "--key --field-separator"},
	"diff":     {flags: "abBiNpqrsuwy", takes: "U", deep: true, long: "--brief --unified --recursive --no-dereference --ignore-all-space --ignore-space-change", with: "--unified", also: withoutLinks},
	"cmp":      {flags: "bls", takes: "n", most: 2},
	"grep":     grep,
	"egrep":    grep,
	"fgrep":    grep,
	"rg":       rg,
	"find":     finder,
	"sed":      {flags: "n", texts: 1, also: printsLines},
	"pwd":      {flags: "LP", none: true},
	"whoami":   {none: true},
	"id":       {none: true},
	"uptime":   {none: true},
	"uname":    {flags: "amnoprsv", none: true},
	"true":     {data: true},
	"false":    {data: true},
	"echo":     {any: true},
	"which":    {flags: "a", data: true, also: onlyNames},
	"basename": {flags: "a", takes: "s", data: true},
	"dirname":  {data: true},
	"date":     {flags: "uR", data: true, also: onlyFormats},
}

var (
	grep = reader{
		flags: "EFGHILPabchilnoqrsvwxz", takes: "ABCme", texts: 1, instead: "-e --regexp",
		long: "--line-number --recursive --ignore-case --count --files-with-matches --files-without-match --fixed-strings --extended-regexp --perl-regexp " +
			"--invert-match --word-regexp --line-regexp --only-matching --no-filename --with-filename --no-messages --quiet --color --text",
		with: "--include --exclude --exclude-dir --color --context --after-context --before-context --max-count --regexp --binary-files",
	}
	rg = reader{
		flags: "FHINPSUchilnopqsuvwx", takes: "ABCMegmtTj", texts: 1, instead: "-e --regexp --files --type-list",
		long: "--files --hidden --no-ignore --json --no-heading --heading --line-number --no-line-number --count --count-matches --ignore-case --smart-case " +
			"--case-sensitive --fixed-strings --files-with-matches --files-without-match --only-matching --invert-match --word-regexp --multiline --pcre2 " +
			"--no-filename --with-filename --stats --trim --column --vimgrep --type-list --no-messages --no-config",
		with: "--glob --iglob --type --type-not --context --after-context --before-context --max-count --max-depth --max-columns --color --sort --regexp --max-filesize",
	}
	// finder is the language of find, in which ( and ! are operands.
	finder = reader{
		words: "-not -empty -print -print0 -prune -a -and -o -or -true -false -quit -depth -daystart -xdev -mount -ls -executable -readable -writable",
		valued: "-name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime -amin -perm -user -group " +
			"-links -regextype -printf",
	}
)

// gitReaders are the commands of git that only read. Git runs programs named in
// its configuration, so anyone who can change the configuration can start
// programs.
var gitReaders = map[string]reader{
	"status": gitReader, "diff": gitReader, "log": gitReader, "show": gitReader, "blame": blame, "ls-files": gitReader, "ls-tree": gitReader,
	"rev-parse": gitReader, "describe": gitReader, "shortlog": gitReader, "rev-list": gitReader, "merge-base": gitReader, "reflog": {none: true}, "cat-file": {flags: "pts", also: gitReader.also},
	"branch":   {flags: "avr", none: true, long: "--show-current --all --remotes --list"},
	"tag":      {flags: "l", none: true, long: "--list"},
	"remote":   {flags: "v", none: true},
	"stash":    {also: first("list")},
	"worktree": {also: first("list")},
	"grep": {
		flags: "EFGIceilnqvwh", texts: 1, instead: "-e", takes: "ABC",
		long: "--count --files-with-matches --ignore-case --line-number --fixed-strings --extended-regexp --word-regexp --cached",
	},
}

// blame excludes -S, because the value of that option is the name of a file.
var blame = reader{
	flags: "bpswe", may: "LMC",
	long: "--porcelain --line-porcelain --date-order --root --show-name --show-number --show-stats", with: "--date --abbrev --since", also: quietFormats,
}

var gitReader = reader{
	flags: "bpswuzqr", may: "nUMLCSG", numbers: true,
	long: "--stat --shortstat --numstat --summary --name-only --name-status --cached --staged --patch --no-patch --oneline --graph --all --decorate --abbrev-commit " +
		"--follow --reverse --merges --no-merges --first-parent --word-diff --no-color --color --no-ext-diff --no-textconv --pretty --short --branch --porcelain --ignored --others " +
		"--modified --deleted --exclude-standard --show-toplevel --abbrev-ref --verify --is-inside-work-tree --tags --always --dirty --branches --remotes " +
		"--ignore-all-space --ignore-space-change --check --left-right --count --no-renames --full-history --date-order --topo-order --error-unmatch --git-dir --is-ancestor --raw",
	with: "--stat --max-count --since --until --after --before --author --committer --grep --format --pretty --date --unified --diff-filter --abbrev --decorate --find-renames " +
		"--untracked-files --porcelain --color --word-diff --sort --skip --relative --ignore-submodules",
	also: quietFormats,
}

// quietFormats returns a reason if the options of git may start a program. %G
// in a format starts gpg, and %G or -L may name a file outside of the project.
func quietFormats(a arguments) string {
	if slices.ContainsFunc(a.values, func(v string) bool { return climbs(v) || strings.Contains(v, ":/") || strings.Contains(v, ":~") }) {
		return "a value may name a file outside of the project"
	}
	if slices.ContainsFunc(a.values, func(v string) bool { return strings.Contains(v, "%G") }) {
		return "a format with %G starts gpg"
	}
	return ""
}

// withoutLinks returns a reason if diff may follow links in directories.
func withoutLinks(a arguments) string {
	recursive := slices.Contains(a.options, "-r") || slices.Contains(a.options, "--recursive")
	if recursive && !slices.Contains(a.options, "--no-dereference") {
		return "-r follows links, unless with --no-dereference"
	}
	return ""
}

// first returns a check that there is exactly one operand, and that it is a
// certain word.
func first(word string) func(arguments) string {
	return func(a arguments) string {
		if len(a.files) != 1 || a.files[0] != word {
			return "it may change something"
		}
		return ""
	}
}

// onlyNames returns a reason if the operands may be files instead of names of
// programs.
func onlyNames(a arguments) string {
	if slices.ContainsFunc(a.texts, func(t string) bool { return strings.Contains(t, "/") }) {
		return "it may look at another directory"
	}
	return ""
}

// onlyFormats returns a reason if the operands of date may set the clock.
func onlyFormats(a arguments) string {
	for _, t := range a.texts {
		if !strings.HasPrefix(t, "+") {
			return "it may set the clock"
		}
	}
	return ""
}

// printing matches a script of sed that only prints lines.
var printing = lazyregexp.New(`^([0-9]+|\$)(,([0-9]+|\$|\+[0-9]+))?p(; ?([0-9]+|\$)(,([0-9]+|\$|\+[0-9]+))?p)*;?$`)

// printsLines returns a reason if a script of sed may do more than print lines.
// Without -n, sed also prints all lines.
func printsLines(a arguments) string {
	if len(a.texts) != 1 || !printing.MatchString(a.texts[0]) {
		return "only scripts such as 1,20p are known to print lines"
	}
	return ""
}
