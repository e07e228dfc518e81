package policy

import (
	"regexp"
	"slices"
	"strings"
)

// runShells run the text after an option with c, in any case, and read a script if
// there is none.
var runShells = set(`
	sh bash dash zsh ksh mksh ash yash fish csh tcsh nu pwsh powershell cmd su runuser script rbash rksh osh ysh elvish
`)

// language is an interpreter of another language than that of shells.
type language struct {
	// code are the letters of the options with a text to run, and values those of
	// the options whose value may be the next word.
	code, values string
}

// languages are the interpreters of other languages. They read a script if their
// arguments name none.
var languages = map[string]language{
	"python": {"c", "WX"}, "pypy": {"c", "WX"}, "ipython": {"c", ""}, "perl": {"eE", "I"}, "raku": {"e", "I"}, "ruby": {"e", "IrC"}, "irb": {}, "node": {"ep", "rC"}, "nodejs": {"ep", "rC"},
	"ts-node": {"ep", "rO"}, "tsx": {"ep", "r"}, "bun": {"ep", "r"}, "deno": {}, "php": {"rBRE", "dcz"}, "lua": {"e", "l"}, "luajit": {"e", "l"}, "tclsh": {}, "wish": {}, "expect": {"c", ""},
	"osascript": {"e", "l"}, "jrunscript": {"e", "l"}, "r": {"e", ""}, "rscript": {"e", ""}, "groovy": {"e", ""}, "julia": {"eE", ""}, "octave": {}, "scala": {"e", ""}, "clojure": {"e", ""}, "clj": {"e", ""},
	"elixir": {"e", "r"}, "iex": {"e", ""}, "erl": {}, "ghci": {"e", ""}, "ghc": {"e", ""}, "guile": {"ce", "L"}, "racket": {"e", ""}, "sbcl": {}, "emacs": {}, "xonsh": {"c", ""}, "m4": {}, "swift": {"e", ""}, "crystal": {},
	"vi": {"cS", ""}, "vim": {"cS", ""}, "nvim": {"cS", ""}, "ex": {"cS", ""}, "view": {"cS", ""}, "ed": {},
	"source": {}, ".": {}, "at": {}, "batch": {}, "crontab": {},
}

// longCode are the long options with a text to run.
var longCode = set("eval --eval --print --run --execute --command -eval")

// interpreter returns the name of a program without its version, as in
// python3.12, and whether it is an interpreter.
func interpreter(name string) (string, bool) {
	known := func(name string) bool {
		_, ok := languages[name]
		return ok || runShells[name]
	}
	if bare := strings.TrimRight(name, "0123456789."); !known(name) && bare != "" {
		name = bare
	}
	return name, known(name)
}

// interpreted reports whether a command runs a text that is not known, or that
// contains the target.
func (t target) interpreted(name string, r run, depth int) bool {
	words := r.words[1:]
	switch {
	case name == "ssh":
		return r.fed || isOpen(words...)
	case name == "eval", name == "iex", name == "invoke-expression":
		return isOpen(words...) || t.inScript(strings.Join(words, " "), depth)
	case strings.HasSuffix(name, "awk"):
		return slices.ContainsFunc(words, startsInAwk)
	case strings.HasSuffix(name, "sed"):
		return slices.ContainsFunc(words, startsInSed)
	case name == "sudo" || name == "doas":
		return r.fed && slices.ContainsFunc(words, func(w string) bool { return w == "-s" || w == "-i" })
	}
	name, ok := interpreter(name)
	switch {
	case !ok:
		return false
	case r.fed && slices.ContainsFunc(words, isStdin):
		return true
	case runShells[name]:
		return t.inShell(name, words, r.fed, depth)
	}
	return languages[name].runs(words, r.fed)
}

// inShell reports whether a shell with some arguments runs a text that is not
// known, or that contains the target.
func (t target) inShell(name string, words []string, fed bool, depth int) bool {
	script := false // the next operand is one
	for n := 0; n < len(words); n++ {
		w := words[n]
		option, value, valued := strings.Cut(w, "=")
		switch option = strings.ToLower(option); {
		case name == "cmd" && len(w) == 2 && w[0] == '/', len(w) > 1 && strings.ContainsRune("-+", rune(w[0])):
		case script:
			return w == open || t.inScript(w, depth)
		case name == "su" || name == "runuser" || w == "-":
			continue // a user
		default:
			return w == open
		}
		switch {
		case (name == "pwsh" || name == "powershell") && strings.HasPrefix(option, "-e") && !strings.HasPrefix(option, "-ex"):
			return true // an encoded command
		case strings.Contains(option, "c") || option == "/k":
			if script = true; valued && t.inScript(value, depth) {
				return true
			}
		case option == "-o" || option == "+o" || strings.HasPrefix(option, "--rc") || strings.HasPrefix(option, "--init"):
			if n++; valued || n < len(words) && isOpen(words[n]) {
				return true
			}
		case strings.Contains(option, "s") && fed:
			return true
		}
	}
	return fed
}

// runs reports whether an interpreter with some arguments runs a text.
func (l language) runs(words []string, fed bool) bool {
	value := false
	for _, w := range words {
		name, _, _ := strings.Cut(w, "=")
		switch {
		case longCode[name], strings.HasSuffix(w, "timeit"), strings.HasPrefix(w, "+") && strings.Contains(l.code, "S"):
			return true
		case w == "-" || strings.HasPrefix(w, "--"):
			value = false
		case !strings.HasPrefix(w, "-") && value:
			value = false
		case !strings.HasPrefix(w, "-"):
			return w == open
		case strings.ContainsAny(w, l.code):
			return true
		default:
			value = len(w) == 2 && strings.Contains(l.values, w[1:])
		}
	}
	return fed
}

// isOpen reports whether one of some words depends on an expansion.
func isOpen(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, open) })
}

// isStdin reports whether a word names what a program reads from a pipe.
func isStdin(w string) bool {
	return w == "-" || strings.HasPrefix(w, "/dev/") || strings.HasPrefix(w, "/proc/")
}

var (
	// textInAwk is a text of awk, and separator one without a word, such as "|". A
	// quote in an expression of awk looks like the start of a text.
	textInAwk = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	separator = regexp.MustCompile(`"[^"A-Za-z_$]*"`)
	pipeInAwk = regexp.MustCompile(`\bprint[^;}\n]*\|`)
	callInAwk = regexp.MustCompile(`system|getline|@ *[A-Za-z_]`)
	// inSed matches the command e of sed, and flagInSed the flag of its command s.
	inSed     = regexp.MustCompile(`(^|[;{}\n0-9$/!])\s*e(\s|$|[;}])`)
	flagInSed = regexp.MustCompile(`[^A-Za-z0-9\s\\][gpimIM0-9]*e[gpimIMw0-9]*\s*($|[;}\n])`)
	letters   = regexp.MustCompile(`^-[A-Za-z-]*$`)
)

// startsInAwk reports whether a word may be a program of awk that starts others.
func startsInAwk(w string) bool {
	pipes := func(text *regexp.Regexp) bool {
		return pipeInAwk.MatchString(strings.ReplaceAll(text.ReplaceAllString(w, `""`), "||", ""))
	}
	return callInAwk.MatchString(w) || pipes(textInAwk) || pipes(separator)
}

// startsInSed reports whether a word may be a script of sed that starts a program.
func startsInSed(w string) bool {
	return !letters.MatchString(w) && (inSed.MatchString(w) || flagInSed.MatchString(w))
}

// inScript reports whether the script of a shell may run the target.
func (t target) inScript(text string, depth int) bool {
	if depth >= maxScripts {
		return true
	}
	r, ok := readLine(text)
	return !ok || t.inReading(r, depth+1)
}
