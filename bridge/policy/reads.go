package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// reader lists the arguments with which a program only reads: it starts
// nothing, writes nothing, sends nothing, and reads only the files in its
// operands. Options that are not listed are not allowed.
type reader struct {
	// flags lists options of one letter without a value. takes lists those with
	// a value, which may be the next word. Options in may can have a value only
	// in the same word.
	flags, takes, may string
	// long lists the long options without a value, and the options that need a
	// value in the form --name=value.
	long, with string
	// words lists long options that start with one dash. valued lists those
	// whose next word is a value.
	words, valued string
	numbers       bool // options such as -20
	// texts is the number of operands before the files, such as the pattern of
	// grep. An option in instead replaces them.
	texts   int
	instead string
	// most is the number of operands that may name files. Zero means any number.
	most int
	none bool // no operand is allowed
	data bool // operands are not files
	any  bool // the program only prints its arguments
	// starts means that the operands after its texts are another command with
	// its own options.
	starts bool
	// deep means that the program reads the files in directories, and the files
	// that links point to.
	deep bool
	// also returns the reason that the parsed arguments are not allowed, or "".
	also func(arguments) string
}

// arguments are the parsed arguments of a program.
type arguments struct {
	options []string // as written, without values
	values  []string
	texts   []string
	files   []string
}

// operand is a file that a command reads.
type operand struct {
	name string
	deep bool // if it is a directory, its content too, even through links
}

// readsOf returns the files that a command reads if it only reads. Otherwise,
// it returns the reason that it may do more.
func readsOf(words []string) (files []operand, why string) {
	r, args, ok := readerOf(words)
	if !ok {
		return nil, fmt.Sprintf("%s is not known as a program that only reads", words[0])
	}
	if r.any {
		return nil, ""
	}
	parsed, why := r.parse(args)
	if why == "" && r.also != nil {
		why = r.also(parsed)
	}
	if why != "" {
		return nil, words[0] + ": " + why
	}
	for _, name := range parsed.files {
		files = append(files, operand{name, r.deep && !slices.Contains(parsed.options, "--no-dereference")})
	}
	return files, ""
}

// readerOf returns the reader of a command, and its arguments.
func readerOf(words []string) (reader, []string, bool) {
	if words[0] != "git" {
		r, ok := readers[words[0]]
		return r, words[1:], ok
	}
	args := words[1:]
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 {
		return reader{}, nil, false
	}
	r, ok := gitReaders[args[0]]
	return r, args[1:], ok
}

// parse parses the arguments of a program.
func (r reader) parse(args []string) (arguments, string) {
	var a arguments
	var operands []string
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		switch {
		case w == "--" && !listed(r.words, w):
			operands, args = append(operands, args...), nil
		case w == "-" || !strings.HasPrefix(w, "-"):
			if operands = append(operands, w); r.starts && len(operands) > r.texts {
				operands, args = append(operands, args...), nil
			}
		default:
			rest, why := r.option(&a, w, args)
			if why != "" {
				return a, why
			}
			args = rest
		}
	}
	texts := r.texts
	if slices.ContainsFunc(a.options, func(o string) bool { return listed(r.instead, o) }) {
		texts = 0
	}
	texts = min(texts, len(operands))
	a.texts = operands[:texts]
	switch operands = operands[texts:]; {
	case r.none && len(operands) > 0:
		return a, fmt.Sprintf("%q may change something", operands[0])
	case r.most > 0 && len(operands) > r.most:
		return a, "it may write the file " + operands[r.most]
	case r.data:
		a.texts = append(a.texts, operands...)
	default:
		a.files = operands
	}
	return a, ""
}

// option parses one option. It returns the remaining arguments.
func (r reader) option(a *arguments, w string, args []string) ([]string, string) {
	name, value, valued := strings.Cut(w, "=")
	switch {
	case r.numbers && len(w) > 1 && strings.Trim(w[1:], "0123456789") == "", listed(r.words, w), listed(r.long, w):
		a.options = append(a.options, w)
		return args, ""
	case valued && listed(r.with, name):
		a.options, a.values = append(a.options, name), append(a.values, value)
		return args, ""
	case listed(r.valued, w):
		if len(args) == 0 {
			return nil, w + " has no value"
		}
		a.options, a.values = append(a.options, w), append(a.values, args[0])
		return args[1:], ""
	case strings.HasPrefix(w, "--"), r.words != "":
		return nil, fmt.Sprintf("the option %s may do more than read", w)
	}
	for n := 1; n < len(w); n++ {
		letter := w[n : n+1]
		a.options = append(a.options, "-"+letter)
		switch {
		case strings.Contains(r.flags, letter):
			continue
		case strings.Contains(r.may, letter):
			a.values = append(a.values, w[n+1:])
			return args, ""
		case !strings.Contains(r.takes, letter):
			return nil, fmt.Sprintf("the option -%s may do more than read", letter)
		case n+1 < len(w):
			a.values = append(a.values, w[n+1:])
			return args, ""
		case len(args) == 0:
			return nil, "-" + letter + " has no value"
		}
		a.values = append(a.values, args[0])
		return args[1:], ""
	}
	return args, ""
}

// listed reports whether a word is in a list that is separated by spaces.
func listed(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// secret matches the names of files that usually hold credentials.
var secret = lazyregexp.New(`(?i)(^|[/:])(\.env([._-].*)?|\.envrc|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.htpasswd|\.dockercfg|` +
	`\.ssh|\.aws|\.gnupg|\.kube|\.docker|\.azure|\.config|id_(rsa|dsa|ecdsa|ed25519)[^/]*|shadow|environ|` +
	`\.git/config|\.[a-z_]*history|\.vault-token|\.terraformrc|\.m2|\.yarnrc\.yml|\.dev\.vars|[^/]*kubeconfig[^/]*|[^/]*\.tf(state|vars)(\.[^/]*)?|` +
	`[^/]*service[-_]?account[^/]*\.json|auth\.json|wallet\.dat|` +
	`[^/]*(secret|credential|passw(or)?d|apikey|api[_-]key)[^/]*|[^/]*tokens?\.(json|ya?ml|txt|toml|ini|env)|` +
	`[^/]*\.(pem|key|p8|ovpn|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg))(/|$)`)

// inside returns "" if all files that a command reads are in the project.
// Otherwise, it returns the reason. Base is the directory in which the command
// runs.
func inside(files []operand, project, base string) string {
	for _, f := range files {
		switch {
		case f.name == "-" || f.name == "":
			continue
		case secret.MatchString(f.name):
			return fmt.Sprintf("%q may hold credentials", f.name)
		case strings.HasPrefix(f.name, "~"):
			return fmt.Sprintf("%q is outside of the project", f.name)
		}
		if !below(f.name, project, base) {
			return fmt.Sprintf("%q is outside of the project", f.name)
		}
	}
	return ""
}

// below reports whether a file is in a directory. A relative name is below it
// unless it contains a parent directory.
func below(name, project, base string) bool {
	if slices.Contains(strings.Split(name, "/"), "..") || climbs(name) {
		return false
	}
	if !path.IsAbs(name) {
		return base == "" || base == project || below(base, project, "")
	}
	clean := path.Clean(name)
	return path.IsAbs(project) && path.Clean(project) != "/" && (clean == path.Clean(project) || strings.HasPrefix(clean, path.Clean(project)+"/"))
}
