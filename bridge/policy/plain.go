package policy

import (
	"errors"
	"fmt"
	"strings"
)

// maxPlain is the longest plain line, in bytes.
const maxPlain = 1000

// call is one simple command of a plain line.
type call struct {
	// after is the operator before the command: &&, ||, ; or |. It is empty for
	// the first command.
	after string
	words []string
}

// plain returns the commands of a plain line, which all of sh, bash, dash, ash,
// ksh, mksh, zsh, yash and fish read in the same way. Such a line consists of
// simple commands joined by &&, ||, ; and |. Their words are bare ASCII or one
// quoted piece, without expansions. The error is the reason that a line is not
// plain.
//
// The grammar, in EBNF:
//
//	line     = { " " } pipeline { joint pipeline } { " " } ;
//	joint    = { " " } ( "&&" | "||" | ";" ) { " " } ;
//	pipeline = command { { " " } "|" { " " } command } ;
//	command  = name { blank word } { blank redirect } ;
//	blank    = " " { " " } ;
//	redirect = ">/dev/null" | "> /dev/null" | "2>/dev/null" | "2> /dev/null" | "2>&1" ;
//	name     = ( letter | "/" | "./" | "../" ) { letter | digit | "." "_" "+" "-" "/" } ;
//	word     = bare [ quoted ] | quoted ;
//	bare     = barechar { barechar } ;
//	barechar = letter | digit | "." "_" "+" "-" "/" "," ":" "@" "%" "=" ;
//	quoted   = "'" { single } "'" | '"' { double } '"' ;
//
// Double quotes may contain one backslash that is not before a quote.
//
// TestShellsAgree runs lines that plain accepts in real shells and compares the
// results.
func plain(line string) ([]call, error) {
	if len(line) > maxPlain {
		return nil, fmt.Errorf("the line is longer than %d bytes", maxPlain)
	}
	for n := range len(line) {
		if line[n] < ' ' || line[n] > '~' {
			return nil, errors.New("the line has a character other than printable ASCII")
		}
	}
	t := tokenizer{rest: strings.Trim(line, " ")}
	var calls []call
	after := ""
	for {
		words, redirected, err := t.command()
		if err != nil {
			return nil, err
		}
		calls = append(calls, call{after, words})
		after = t.operator()
		if err := checkName(words[0]); err != nil {
			return nil, err
		}
		if words[0] == "cd" {
			if err := checkCD(len(calls), words, redirected, after, t.rest); err != nil {
				return nil, err
			}
		}
		if after == "" {
			break
		}
	}
	if t.rest != "" {
		return nil, fmt.Errorf("%q has a special meaning outside quotes", t.rest[:1])
	}
	return calls, nil
}

// tokenizer reads a line from left to right.
type tokenizer struct{ rest string }

func (t *tokenizer) take(prefix string) bool {
	rest, ok := strings.CutPrefix(t.rest, prefix)
	if ok {
		t.rest = rest
	}
	return ok
}

func (t *tokenizer) blanks() bool {
	before := len(t.rest)
	t.rest = strings.TrimLeft(t.rest, " ")
	return len(t.rest) < before
}

// operator consumes the operator between two commands and returns it. It
// returns an empty string at the end of the line, or if no operator follows.
func (t *tokenizer) operator() string {
	t.blanks()
	for _, op := range []string{"&&", "||", ";", "|"} {
		if t.take(op) {
			t.blanks()
			return op
		}
	}
	return ""
}

// ended reports whether a word or a redirection ends here.
func (t *tokenizer) ended() bool {
	return t.rest == "" || strings.IndexByte(" |;", t.rest[0]) >= 0 || strings.HasPrefix(t.rest, "&&")
}

var redirects = []string{">/dev/null", "> /dev/null", "2>/dev/null", "2> /dev/null", "2>&1"}

// command consumes a simple command: a name, words, and redirections.
func (t *tokenizer) command() (words []string, redirected bool, err error) {
	name := span(t.rest, isNameChar)
	if name == "" {
		return nil, false, errors.New("a command name is missing")
	}
	t.rest = t.rest[len(name):]
	if !t.ended() {
		return nil, false, fmt.Errorf("the command name %q is followed by %q", name, t.rest[:1])
	}
	words = []string{name}
	for t.blanks() {
		if t.redirect() {
			redirected = true
			continue
		}
		word, ok, err := t.word()
		if err != nil {
			return nil, false, err
		}
		if !ok {
			break
		}
		if redirected {
			return nil, false, errors.New("a word follows a redirection")
		}
		words = append(words, word)
	}
	return words, redirected, nil
}

func (t *tokenizer) redirect() bool {
	before := t.rest
	for _, r := range redirects {
		if t.take(r) {
			if t.ended() {
				return true
			}
			t.rest = before
		}
	}
	return false
}

// word consumes a word. It returns false if no word follows.
func (t *tokenizer) word() (string, bool, error) {
	bare := span(t.rest, isBareChar)
	if err := checkBare(bare); err != nil {
		return "", false, err
	}
	t.rest = t.rest[len(bare):]
	quoted, found, err := t.quoted()
	if err != nil {
		return "", false, err
	}
	if bare == "" && !found {
		return "", false, nil
	}
	if !t.ended() {
		return "", false, fmt.Errorf("the word %q is followed by %q", bare+quoted, t.rest[:1])
	}
	return bare + quoted, true, nil
}

// quoted consumes a quoted piece. It returns false if no quote follows.
func (t *tokenizer) quoted() (string, bool, error) {
	if t.rest == "" || (t.rest[0] != '\'' && t.rest[0] != '"') {
		return "", false, nil
	}
	quote := t.rest[:1]
	text, rest, closed := strings.Cut(t.rest[1:], quote)
	switch {
	case !closed:
		return "", false, errors.New("a quote is not closed")
	case quote == `"` && escapes(text):
		return "", false, errors.New("double quotes contain $, a backquote, an exclamation mark, or a backslash that escapes something")
	case quote == `'` && (strings.Contains(text, `\\`) || strings.HasSuffix(text, `\`)):
		return "", false, errors.New("single quotes contain two backslashes, or end in one")
	}
	t.rest = rest
	return text, true, nil
}

// escapes reports whether shells may read a text in double quotes in different
// ways. A backslash before an ordinary character is kept.
func escapes(text string) bool {
	for n := range len(text) {
		switch text[n] {
		case '$', '`', '!':
			return true
		case '\\':
			if n+1 == len(text) || text[n+1] == '\\' {
				return true
			}
		}
	}
	return false
}

func span(s string, of func(byte) bool) string {
	n := 0
	for n < len(s) && of(s[n]) {
		n++
	}
	return s[:n]
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isAlnum(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

func isNameChar(c byte) bool { return isAlnum(c) || strings.IndexByte("._+-/", c) >= 0 }

func isBareChar(c byte) bool { return isNameChar(c) || strings.IndexByte(",:@%=", c) >= 0 }

// checkBare returns an error for a bare word that a shell expands.
func checkBare(s string) error {
	if strings.HasPrefix(s, "%") {
		return errors.New("a word starts with %, which fish and job control expand")
	}
	if len(s) >= 3 && strings.Trim(s, ".") == "" {
		return errors.New("a word of three or more dots can be a global alias")
	}
	for n := range len(s) {
		if s[n] == '=' && (n == 0 || !isAlnum(s[n-1]) && s[n-1] != '_' && s[n-1] != '-') {
			return errors.New("an equal sign that does not follow a letter, a digit, _ or - may be expanded by zsh")
		}
	}
	return nil
}

// checkName returns an error for a name that some shells do not look up as a
// program.
func checkName(s string) error {
	switch {
	case !isLetter(s[0]) && s[0] != '/' && !strings.HasPrefix(s, "./") && !strings.HasPrefix(s, "../"):
		return fmt.Errorf("the command name %q does not start with a letter, /, ./ or ../", s)
	case isLetter(s[0]) && strings.Contains(s, "/"):
		return fmt.Errorf("some shells search PATH for the command name %q; write ./%s", s, s)
	case strings.HasSuffix(s, "/") || strings.Trim(s, "./") == "":
		return fmt.Errorf("the command name %q is a directory", s)
	case refused[s]:
		return fmt.Errorf("%q is a builtin, an alias or a reserved word of a shell", s)
	}
	return nil
}

// checkCD returns an error for a cd after which the location of commands is
// unknown.
func checkCD(nth int, words []string, redirected bool, after, rest string) error {
	switch {
	case nth > 1:
		return errors.New("cd is not the first command")
	case len(words) != 2 || words[1] == "" || words[1][0] == '-' || words[1][0] == '+' || redirected:
		return errors.New("cd needs exactly one directory as its argument")
	case after != "&&" && (after != "" || rest != ""):
		return errors.New("cd is followed by something other than &&")
	}
	return nil
}
