package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// dataPrograms lists programs, in addition to those in inertNames, whose words
// and standard input are only data. Such a program starts nothing, and changes
// no file except for those that it deletes.
var dataPrograms = set(`
	cat head tail wc nl ls du df file cut column tr cmp diff grep egrep fgrep uname id whoami date uptime rm rmdir chmod chown kill pkill pgrep ps lsof seq
	: nproc hostname printenv tree shellcheck gofmt goimports gzip gunzip zcat unzip xz expr cal clear ping dig host
	netstat ss pbcopy numfmt iconv sw_vers free xxd tee
	get-childitem get-content get-location set-location select-string test-path write-output measure-object
`)

// builtins are builtins of shells that take numbers or names of variables.
var builtins = set("exit return break continue shift wait unset read")

// counted lists the builtins that take a number, which some shells evaluate.
var counted = set("exit return break continue shift")

// copiers lists programs that create a file under another name.
var copiers = set("cp mv ln install")

// habits maps programs to the arguments with which they start no command, or
// only a command that is in the line.
var habits = map[string]reader{
	"env": {flags: "i", takes: "u", starts: true}, "sudo": {flags: "nEH", takes: "ug", starts: true}, "command": {flags: "pvV", starts: true}, "nohup": {starts: true}, "time": {flags: "plv", starts: true},
	"nice": {numbers: true, takes: "n", starts: true}, "timeout": {flags: "v", takes: "sk", long: "--foreground --preserve-status", texts: 1, starts: true}, "stdbuf": {takes: "ioe", starts: true},
	"caffeinate": {flags: "dims", starts: true}, "npx": {flags: "yq", long: "--yes --no --no-install", valued: "--prefix", starts: true}, "bunx": {starts: true}, "xargs": {flags: "0rt", takes: "nPLIsda", starts: true},
	"uv run": {starts: true}, "poetry run": {starts: true}, "pipenv run": {starts: true}, "bundle exec": {starts: true}, "pnpm exec": {starts: true}, "npm exec": {starts: true},

	"sh": bourne, "bash": bourne, "dash": bourne, "zsh": bourne, "ksh": bourne, "source": {starts: true}, ".": {starts: true},
	"python": {flags: "uBEsSOvqIb", takes: "WX", starts: true}, "node": {flags: "c", long: "--test --check --watch --no-warnings --enable-source-maps", with: "--max-old-space-size", starts: true},
	"ruby": {flags: "wc", starts: true}, "perl": {flags: "wc", starts: true}, "php": {flags: "l", starts: true}, "lua": {starts: true}, "tsx": {starts: true}, "ts-node": {starts: true},

	"awk": {takes: "Fv", texts: 1, also: quietAwk}, "gawk": {takes: "Fv", texts: 1, also: quietAwk}, "sed": {flags: "nErsuz", takes: "e", may: "i", texts: 1, instead: "-e", also: quietSed},
	"sqlite3": {words: "-header -noheader -csv -json -readonly -column -line -list -box -table -markdown -batch -bail", valued: "-separator", also: quietSQL},
	"go env":  {words: "-json -changed"}, "git grep": gitReaders["grep"], "git config": {long: "--global --local --system --list --get --get-all --get-regexp", flags: "l", most: 1},
	"psql": {flags: "AtqXxw", takes: "chUdpF", also: quietSQL}, "strings": {flags: "afw", takes: "nt", numbers: true},
	"curl": {
		flags: "sSfLiIvkgGN46#jq01O", takes: "XHduAebmwryYzFxoDc",
		long:   "--silent --show-error --fail --fail-with-body --location --include --head --verbose --insecure --get --compressed --globoff --http1.1 --http2 --no-progress-meter --progress-bar --remote-name --no-buffer --ipv4 --ipv6",
		valued: "--request --header --data --data-raw --data-binary --data-urlencode --json --user --user-agent --referer --cookie --max-time --connect-timeout --retry --retry-delay --retry-max-time --url --form --range --limit-rate --write-out --cacert --proxy --resolve --max-redirs --output --output-dir --dump-header --cookie-jar",
	},
}

var bourne = reader{flags: "celuxn", valued: "-o -O -eo -uo -euo -exo -euxo", long: "--login --norc --noprofile --posix", starts: true}

// runsFiles lists programs that run a file, or the text after -c.
var runsFiles = set("sh bash dash zsh ksh source . python node ruby perl php lua tsx ts-node")

// tools lists programs that run files of the project. The arguments of such a
// program are accepted if none can contain a command; see simple. Programs with
// subcommands are in subcommands.
var tools = set(`
	make gradle tsc eslint prettier vitest jest mocha vite next playwright pytest unittest json.tool http.server venv coverage ruff mypy black flake8 isort
	rubocop rspec rake phpunit rustfmt staticcheck xcodebuild
`)

const npm = "run test start stop install i ci ls list outdated view info audit pack publish version link prune update why build dev lint format typecheck"

// subcommands lists the known subcommands of programs, by program.
var subcommands = map[string]string{
	"go": "build test vet run fmt mod list version doc get install generate work clean help", "golangci-lint": "run fmt linters version help config", "npm": npm + " uninstall", "pnpm": npm + " add remove", "yarn": npm + " add remove", "bun": npm + " add remove", "deno": "run test fmt lint check task cache",
	"cargo": "build b check c clippy test t run r fmt doc add remove update tree bench clean new init metadata install publish nextest", "uv": "sync add remove lock pip venv", "pip": "install uninstall list show freeze download check wheel index", "poetry": "install add update lock show build", "swift": "build test run package", "dotnet": "build test run restore publish format",
	"mvn": "validate compile test package verify install clean", "gem": "install list", "composer": "install update require show", "brew": "install list info upgrade update search", "apt-get": "install update remove upgrade",
	"git":     "clone fetch ls-remote pull push rebase remote submodule/add submodule/init submodule/status submodule/sync submodule/update",
	"docker":  "build compose/build compose/config compose/down compose/logs compose/ps compose/pull compose/up images info inspect kill login logs ps pull push rm restart start stats stop tag version",
	"kubectl": "get describe logs top version explain api-resources cluster-info apply create delete scale rollout patch label annotate wait cp", "helm": "install upgrade list status template lint get repo",
	"terraform": "init plan apply destroy validate fmt output show state workspace import providers version graph refresh",
}

// dataSubcommands maps programs to subcommands whose words are only data.
var dataSubcommands = map[string]string{
	"git": `add apply bisect/bad bisect/good bisect/reset bisect/start blame branch cat-file check-ignore cherry cherry-pick checkout clean commit count-objects describe diff diff-tree for-each-ref format-patch fsck gc hash-object help init log
		ls-files ls-tree merge merge-base mv name-rev notes range-diff reflog reset restore rev-list rev-parse revert rm shortlog show show-ref stash status switch symbolic-ref tag update-index version whatchanged worktree write-tree`,
	"gh": `api auth/status issue/close issue/comment issue/create issue/edit issue/list issue/view label/list pr/checks pr/close pr/comment pr/diff pr/edit pr/list pr/ready pr/review pr/status pr/view release/list release/view repo/list repo/view
		run/list run/view run/watch search status workflow/list workflow/view`,
}

// remote lists programs that run no local code, neither from files nor from a
// pipe.
var remote = set("git docker kubectl helm terraform")

// Options of tools that take a separate value: any text, or a name.
const (
	textOptions  = "go:-run go:-bench go:-skip go:-fuzz go:-f go:-ldflags pytest:-k pytest:-m jest:-t vitest:-t npm:-t mocha:-g playwright:-g rspec:-e kubectl:-o kubectl:-p kubectl:-l"
	namedOptions = "-f -p -n -R -C -F --prefix --namespace --context --filter --file --profile --repo --dir --cwd"
)

// program reports whether a program with the given arguments is known to start
// only files of the project. listed reports whether the program is listed at
// all.
func (q *inquiry) program(name string, args []string, fed bool) (known, listed bool) {
	q.writes(name, args)
	if fed && (name == "git" || name == "gh" || name == "kubectl") {
		q.options(args)
		if name == "git" && opensEditor(args) || name != "git" && slices.ContainsFunc(args, hasEdit.MatchString) {
			return false, true
		}
	}
	if name == "git" && len(args) > 0 && args[0] == "apply" {
		q.patches, q.fed = true, q.fed || fed
	}
	if len(args) > 0 {
		if r, ok := habits[name+" "+args[0]]; ok {
			return q.habit(name, r, args[1:], fed), true
		}
	}
	switch {
	case name == "printf":
		return printsTexts(args), true
	case dataPrograms[name] || inertNames[name]:
		return true, true
	case name == "arch": // on macOS, it starts a program
		return len(args) == 0, true
	case name == "tar":
		return extracts(args), true
	case copiers[name]:
		return !isOpen(args...) && !q.names(args...) && !slices.ContainsFunc(args, system.MatchString), true
	case name == "[" || name == "test":
		numbers := func(w string) bool { return digits.MatchString(w) || compares.MatchString(w) || w == "]" }
		return !slices.ContainsFunc(args, compares.MatchString) || each(args, numbers), true
	case name == "set":
		return each(args, settings.MatchString), true
	case counted[name]:
		return each(args, digits.MatchString), true
	case builtins[name]: // these builtins evaluate subscripts
		q.input, q.open = q.input || name == "read", q.open || name == "read"
		return each(args, func(w string) bool { return w == "-r" || digits.MatchString(w) || isOrdinary(w, "", false) }), true
	case name == "find":
		return q.find(args, fed), true
	case tools[name], subcommands[name] != "", dataSubcommands[name] != "":
		return q.tool(name, args, fed), true
	}
	r, ok := habits[name]
	if bare := strings.TrimRight(name, "0123456789."); !ok && runsFiles[bare] { // python3.12
		name, r, ok = bare, habits[bare], true
	}
	if ok {
		return q.habit(name, r, args, fed), true
	}
	_, why := readsOf(append([]string{name}, args...))
	if why == "" {
		q.options(args)
	}
	return why == "" && !strings.Contains(strings.Join(args, ""), many), why == ""
}

// options records whether words may be options because of an expansion. No word
// after -- is an option.
func (q *inquiry) options(words []string) {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	q.optional = q.optional || slices.ContainsFunc(words, func(w string) bool {
		return w != "" && strings.ContainsAny(w[:1], one+"*?[") || strings.Contains(w, many)
	})
}

func each(words []string, match func(string) bool) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !match(w) })
}

var (
	system     = lazyregexp.New(`^/(usr|opt|bin|sbin|nix|snap)/`)
	compares   = lazyregexp.New(`^-(eq|ne|lt|le|gt|ge|v|R|t)$`)
	settings   = lazyregexp.New(`^([-+][eux]+|[-+][eux]*o|pipefail|errexit|nounset|xtrace)$`)
	textFormat = lazyregexp.New(`%[-+ #0]*[0-9]*(\.[0-9]+)?[sbqc%]`)
)

var (
	hasText  = lazyregexp.New(`^-[abeinopqsvz]*[mFC]|^--(mess|file|no-edit|reuse)`)
	hasEdit  = lazyregexp.New(`^-[a-zA-Z]*e|^--e(d.*)?$|^edit-`)
	goesOver = lazyregexp.New(`^-[a-zA-Z]*[pi]|^--patc?h?$|^--int`) // asks about each change, and may edit it
	resumes  = lazyregexp.New(`^--cont|^(-r|--r[a-z]*=)i`)
)

// opensEditor reports whether git starts an editor, which reads its commands from a
// pipe.
func opensEditor(args []string) bool {
	edit := slices.ContainsFunc(args, hasEdit.MatchString)
	switch strings.Join(args[:min(len(args), 1)], "") {
	case "rebase":
		return true
	case "config":
		return edit || slices.Contains(args, "edit")
	case "cherry-pick", "merge", "pull":
		return edit || slices.ContainsFunc(args, resumes.MatchString)
	case "add", "checkout", "reset", "restore", "stash":
		return edit || slices.ContainsFunc(args, goesOver.MatchString)
	case "commit", "tag", "notes", "revert":
		edit = edit || args[0] == "commit" && slices.ContainsFunc(args, goesOver.MatchString)
		return edit || !slices.ContainsFunc(args, hasText.MatchString)
	}
	return edit
}

var tarLetters = lazyregexp.New(`^-?[cxtvzjJpf]+$`)

// extracts reports whether tar starts no program. If the name of the archive
// contains a colon, tar connects to another host.
func extracts(args []string) bool {
	return len(args) > 0 && tarLetters.MatchString(args[0]) && each(args[1:], func(w string) bool {
		return !isOpen(w) && !strings.Contains(w, ":") && (w == "-" || w == "-C" || !strings.HasPrefix(w, "-"))
	})
}

// printsTexts reports whether printf only prints text, and no numbers, which
// some shells evaluate.
func printsTexts(args []string) bool {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return false
	}
	texts := !isOpen(args[0]) && !strings.Contains(textFormat.ReplaceAllString(args[0], ""), "%")
	return texts || each(args[1:], digits.MatchString)
}

// tool reports whether no word of a tool can be a command.
func (q *inquiry) tool(name string, args []string, fed bool) bool {
	if name == "cargo" && len(args) > 0 && toolchain.MatchString(args[0]) {
		args = args[1:]
	}
	data, some := dataSubcommands[name], subcommands[name]
	sub, both, first := "", "", len(args)
	for n := 0; n < len(args) && both == ""; n++ {
		switch w := args[n]; {
		case listed(namedOptions, w):
			n++
		case strings.HasPrefix(w, "-"):
			value := n+1 < len(args) && !strings.Contains(w, "=") && !strings.HasPrefix(args[n+1], "-")
			if value && guesses[name] && !listed(data, sub) && !listed(some, sub) {
				return false
			}
		case sub == "":
			sub, first = w, n
		default:
			both = sub + "/" + w
		}
	}
	switch {
	case sub == "" && !tools[name]:
		return each(args, plainOption.MatchString)
	case listed(data, sub), listed(data, both):
		return q.simple(args[:first]...) && !(sub == "init" && slices.ContainsFunc(args, template.MatchString))
	// the subcommand starts env, or a file of the project
	case !tools[name] && !listed(some, sub) && !listed(some, both), listed("run run-script", sub) && slices.Contains(args, "env"), sub == "run" && q.target.startedIn(args[first:]):
		return false
	case name == "coverage" && slices.Contains(args, "-m") && !tools[after(args, "-m")]:
		return false
	case name == "json.tool": // with two files, it writes the second file
		return q.simple(args...) && len(slices.DeleteFunc(slices.Clone(args), isOption)) < 2 && (!fed || each(args, isOption))
	}
	q.ran = append(q.ran, args...)
	q.places(name, sub, args)
	if !remote[name] {
		q.ran, q.runs = append(q.ran, name), true
	}
	given := "" // the previous option, if the next word may be its value
	for _, w := range args {
		option, value, valued := strings.Cut(w, "=")
		if name == "go" { // the go command treats two dashes as one
			option = strings.Replace(option, "--", "-", 1)
		}
		text := listed(textOptions, name+":"+option) || given != "" && (given == "-ldflags" || !isOption(w))
		// an option after another option may be its value
		if given == "" && !valued && listed(textOptions, name+":"+option) {
			given = option
		} else {
			given = ""
		}
		switch {
		case text && !strings.Contains(w, "-ext") && !strings.Contains(w, many):
		case !q.simple(w), name == "git" && (strings.Contains(w, "::") || template.MatchString(w) || sub == "clone" && setsOther(w)), name == "deno" && strings.Contains(w, "://"), (name == "make" || name == "rake") && evaluates.MatchString(w), name == "make" && value != "" && !strings.HasPrefix(w, "-") && !isOrdinary(option, value, false):
			return false
		}
	}
	return !fed || remote[name] && (name != "docker" || sub == "login") // docker builds and starts images from its input
}

var (
	plainOption = lazyregexp.New(`^--?[a-z-]+$`)
	toolchain   = lazyregexp.New(`^\+[a-z0-9.-]+$`)
	template    = lazyregexp.New(`^--t(e.*|=.*)?$`) // a template directory, which may contain hooks
	evaluates   = lazyregexp.New(`^-[a-zA-Z]*[EepP]|^--e`)
	// guesses are programs that take the word after an unknown option as its value.
	guesses = set("gh docker kubectl helm")
)

// after returns the word after an option, or "".
func after(args []string, option string) string {
	if n := slices.Index(args, option); n >= 0 && n+1 < len(args) {
		return args[n+1]
	}
	return ""
}

func isOption(w string) bool { return len(w) > 1 && strings.HasPrefix(w, "-") }

// habit reports whether a program starts only commands that are known.
func (q *inquiry) habit(name string, r reader, args []string, fed bool) bool {
	if n := slices.Index(args, "-m"); name == "python" && n >= 0 && n+1 < len(args) {
		if before, why := r.parse(args[:n]); why == "" && len(before.files) == 0 {
			module := args[n+1]
			return (tools[module] || subcommands[module] != "") && !q.target.is(args[n+1:]) && q.tool(module, args[n+2:], fed)
		}
	}
	a, why := r.parse(args)
	if why == "" && r.also != nil {
		why = r.also(a)
	}
	shown := strings.Join(slices.Concat(a.options, a.values, a.texts), "")
	words := a.files
	q.habitWrites(name, r, a)
	if !r.starts || runsFiles[name] { // for other programs, the words may be a command
		q.options(slices.Concat(a.texts, words))
	}
	switch {
	case why != "" || strings.Contains(shown, many) && name != "curl" || name == "curl" && (slices.ContainsFunc(r.valuesOf(a, "-w --write-out"), readsFormat) || slices.ContainsFunc(r.valuesOf(a, "-o --output"), fromAddress)):
		return false
	case !r.starts: // a database client runs its input
		spread := strings.Contains(strings.Join(words, ""), many) && !severalFiles[name]
		return !spread && !(fed && (name == "sqlite3" && len(words) < 2 || name == "psql" && !slices.Contains(a.options, "-c")))
	case runsFiles[name] && slices.Contains(a.options, "-c") && strings.HasSuffix(name, "sh"):
		for _, w := range words[min(len(words), 1):] { // the script may use these words
			q.value(w)
		}
		return len(words) > 0 && !isOpen(words[0]) && q.script(words[0])
	case runsFiles[name]:
		q.ran = append(q.ran, a.values...)
		return q.file(words, fed) && !(name == "node" && (words[0] == "inspect" || words[0] == "debug"))
	case name == "xargs" && slices.Contains(a.options, "-I"):
		q.input = true
		words = slices.Clone(words)
		for n := range words {
			for _, place := range a.values {
				words[n] = strings.ReplaceAll(words[n], place, one)
			}
		}
		if slices.Contains(a.options, "-n") || slices.Contains(a.options, "-L") { // the last option wins
			words = append(words, many)
		}
	case name == "xargs":
		q.input = true
		words = append(slices.Clone(words), many)
	case name == "command" && slices.ContainsFunc(a.options, func(o string) bool { return o != "-p" }):
		return true
	}
	for len(words) > 0 && (name == "env" || name == "sudo") && strings.Contains(words[0], "=") {
		variable, value, _ := strings.Cut(words[0], "=")
		if !isOrdinary(variable, value, true) || isOpen(words[0]) || q.names(value) {
			return false
		}
		q.value(value)
		words = words[1:]
	}
	if name == "uv" && len(words) > 0 && strings.HasSuffix(words[0], ".py") {
		return q.file(words, fed)
	}
	return len(words) == 0 || q.command(words, fed)
}

// readsFormat reports whether curl reads a format from its input, which may name
// files that it writes.
func readsFormat(w string) bool {
	return strings.HasPrefix(w, "@") && (w == "@-" || devices.MatchString(w[1:]))
}

// fromAddress reports whether curl puts a part of the address into the name of the file.
func fromAddress(f string) bool { return strings.Contains(f, "#") }

// severalFiles are programs that take any number of files or addresses.
var severalFiles = set("sed awk gawk curl")

// theirDir matches directories with scripts that do not belong to the project.
var theirDir = lazyregexp.New(`(^|/)(usr|opt|nix|snap|lib|node_modules)(/|$)`)

// devices matches files that may stand for the input of a command.
var devices = lazyregexp.New(`(^|/)(dev|proc)/|(^|/)(std(in|out|err)|tty.*|[0-9]+)$`)

// file reports whether a script can be a file of the project. A gate does not
// see the commands in such a file.
func (q *inquiry) file(words []string, fed bool) bool {
	q.piped = q.piped || fed
	if len(words) == 0 || isOpen(path.Base(words[0])) || strings.Contains(words[0], many) || strings.HasPrefix(words[0], "-") || strings.HasPrefix(words[0], "+") || q.target.is(words) || q.names(words...) {
		return false
	}
	q.ran, q.runs = append(q.ran, words[0]), true
	if slices.ContainsFunc(strings.Split(words[0], "/"), q.target.isName) { // such as npm/index.js
		return false
	}
	if slices.ContainsFunc(append(q.dirs, path.Dir(words[0])), theirDir.MatchString) && !q.simple(words[1:]...) {
		return false
	}
	return !devices.MatchString(words[0])
}
