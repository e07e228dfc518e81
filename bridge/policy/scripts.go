package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

var (
	// textInAwk matches a string of awk, and separator matches a string without
	// a word, such as "|". A quote in a regular expression of awk looks like
	// the start of a string.
	textInAwk = lazyregexp.New(`"(\\.|[^"\\])*"`)
	separator = lazyregexp.New(`"[^"A-Za-z_$]*"`)
	pipeInAwk = lazyregexp.New(`\bprint[^;}\n]*(\||/[^\n]*\||\\\n[^;}]*\|)`)
	// quotedInAwk matches a regular expression with a quote. After it, strings
	// seem to start where they end.
	quotedInAwk = lazyregexp.New(`/[^/\n]*"[^/\n]*/`)
	callInAwk   = lazyregexp.New(`system|getline|@\s*[A-Za-z_]`)
	// computed matches the name of an output file that awk computes or joins.
	computed = lazyregexp.New(`\bprintf?\b[^;}\n]*>>?\s*([^"\s>]|""[ \t]*[^\s;}])`)
	// spelled matches a file whose name has escaped characters.
	spelled = lazyregexp.New(`>\s*"[^"]*\\`)
	// goesOn matches the end of a line after which the statement continues.
	goesOn = lazyregexp.New(`(,|&&|\|\|)[ \t]*(#[^\n]*)?\n\s*`)
)

// quietAwk returns a reason if awk may start a program: with system, getline, a
// pipe after print, or @.
func quietAwk(a arguments) string {
	pipes := func(script string) bool { return pipeInAwk.MatchString(strings.ReplaceAll(script, "||", "")) }
	pipesWithout := func(script string, text *lazyregexp.Regexp) bool {
		without := text.ReplaceAllStringFunc(script, func(s string) string {
			if strings.Contains(s, "/") { // a string may start in a regular expression
				return s
			}
			return `""`
		})
		return pipes(without)
	}
	for _, script := range a.texts {
		script = goesOn.ReplaceAllString(script, "$1 ")
		if isOpen(script) || callInAwk.MatchString(script) || pipesWithout(script, textInAwk) || pipesWithout(script, separator) || quotedInAwk.MatchString(script) && pipes(script) {
			return "the script may start a program"
		}
		if spelled.MatchString(script) || computed.MatchString(textInAwk.ReplaceAllString(script, `""`)) {
			return "the script may write any file"
		}
	}
	return ""
}

// sedScript matches scripts of sed without the commands and flags that start a
// program, or read and write other files.
var sedScript = sync.OnceValue(func() *regexp.Regexp {
	text := func(end string) string {
		return `(\\.|\[\^?\]?[^\]\n` + end + `]*\]|[^\\\[\n` + end + `])*`
	}
	var change []string
	for _, end := range []string{"/", `\|`, "#", ",", "@", ":", "!"} {
		change = append(change, "[sy]"+end+text(end)+end+text(end)+end+"[gpIiMm0-9]*")
	}
	address := `([0-9]+(~[0-9]+)?|\$|/` + text("/") + `/I?)`
	command := `([=dDgGhHlnNpPxz]|[qQ] *[0-9]*|[:bt] *\w*|[aic](\\\n?|\s)[^\n\\]*|` + strings.Join(change, "|") + `)`
	return regexp.MustCompile(`^([\s;}]*(` + address + `(\s*,\s*(` + address + `|[+~][0-9]+))?\s*!?\s*)?(\{|` + command + `\s*([;\n}]|$)))*[\s;}]*$`)
})

// sedFiles returns the files of sed. On macOS, the script follows -i and an
// empty argument.
func sedFiles(a arguments) []string {
	if slices.Contains(a.options, "-i") && len(a.texts) > 0 && a.texts[0] == "" && len(a.files) > 0 {
		return a.files[1:]
	}
	return a.files
}

// quietSed returns a reason if a script of sed may start a program. A value
// such as .bak is the end of a name.
func quietSed(a arguments) string {
	files := sedFiles(a)
	for _, script := range slices.Concat(a.texts, a.values, a.files[:len(a.files)-len(files)]) {
		if isOpen(script) || !strings.HasPrefix(script, ".") && !sedScript().MatchString(script) {
			return "the script may start a program"
		}
	}
	if slices.ContainsFunc(files, func(f string) bool { return strings.ContainsAny(f, "{};\n") }) {
		return "a file looks like a script"
	}
	return ""
}

var (
	sqlShows  = lazyregexp.New(`^\.(schema|tables|indexes|databases)( [\w%]+)?$`)
	sqlStarts = lazyregexp.New(`(?im)^\s*[.!]|\\|\b(edit|load_extension|writefile|program|attach|vacuum)\b`)
)

// quietSQL returns a reason if the client of a database may start a program.
func quietSQL(a arguments) string {
	for n, text := range slices.Concat(a.values, a.files) {
		if isOpen(text) && n > 0 || sqlStarts.MatchString(text) && !sqlShows.MatchString(text) {
			return "a text may be a command of the client"
		}
	}
	return ""
}

// find reports whether the commands that find starts are known.
func (q *inquiry) find(args []string, fed bool) bool {
	option := ""
	ends := func(w string) bool { return w == ";" || w == "+" }
	for n := 0; n < len(args); n++ {
		w := args[n]
		switch {
		case strings.Contains(w, many), strings.HasPrefix(w, one) && option != "" && !listed(finder.valued, option):
			return false
		case strings.HasPrefix(w, one) && !listed(finder.valued, option) && n+1 < len(args) && !strings.HasPrefix(args[n+1], "-") && slices.ContainsFunc(args[n+1:], ends):
			return false
		case !strings.HasPrefix(w, "-"): // a directory, or a pattern for names
			q.values = append(q.values, w)
		case strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok"):
			var command []string
			for n++; n < len(args) && args[n] != ";" && !(args[n] == "+" && args[n-1] == "{}"); n++ {
				command = append(command, strings.ReplaceAll(args[n], "{}", one))
			}
			asks := strings.HasPrefix(w, "-ok") && n < len(args) && args[n] == "+" // after it, + does not end the command
			if asks || len(command) == 0 || !q.command(command, fed) {
				return false
			}
		case strings.HasPrefix(w, "-fprint") || strings.HasPrefix(w, "-fls"):
			q.written = append(q.written, strings.Join(args[n+1:min(n+2, len(args))], ""))
		}
		if option = ""; strings.HasPrefix(w, "-") || w == "!" {
			option = w
		}
	}
	return true
}

// gitOptions are the options of git before its command, and gitSettings the values
// of -c that name no program.
var (
	gitOptions  = reader{flags: "pP", takes: "Cc", long: "--no-pager --paginate --version --no-optional-locks", with: "--git-dir --work-tree", starts: true}
	gitSettings = lazyregexp.New(`(?i)^((user\.(name|email)|color\.[a-z.]+|core\.(quotepath|autocrlf)|advice\.[a-z]+|init\.defaultbranch)=|(core\.pager=(cat)?|(commit|tag)\.gpgsign=false)$)`)
)

// setting matches a setting among the words of git clone.
var setting = lazyregexp.New(`^(-[a-z]*c|--c[a-z]*=)?([A-Za-z][\w-]*\..+=.*)$`)

// setsOther reports whether a word of git clone may be a setting that names a program.
func setsOther(w string) bool {
	m := setting.FindStringSubmatch(w)
	return m != nil && !gitSettings.MatchString(m[2])
}

// withoutSettings returns the words of git without the options before its
// command, the directory that these options select, and whether they are known.
// With another work tree, git may write files anywhere.
func withoutSettings(args []string) (words []string, dir string, known bool) {
	a, why := gitOptions.parse(args)
	known = why == "" && each(a.values, func(v string) bool {
		return !strings.Contains(v, many) && (!strings.Contains(v, "=") || gitSettings.MatchString(v))
	})
	if len(a.files) > 0 && len(gitOptions.valuesOf(a, "--work-tree")) > 0 {
		_, reads := gitReaders[a.files[0]]
		known = known && reads
	}
	return a.files, path.Join(gitOptions.valuesOf(a, "-C")...), known
}
