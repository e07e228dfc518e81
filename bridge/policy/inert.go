package policy

import (
	"path"
	"slices"
	"strings"
)

// inertNames are programs that treat their words and their standard input as
// data: they run no part of them. Readers are inert too, with the options that
// they may have.
var inertNames = set(`
	cd pushd popd echo printf true false pwd date sleep basename dirname realpath readlink which type stat
	md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum base64 base32 od hexdump
	fold fmt rev tac expand unexpand paste join comm jq mkdir touch
`)

// inertGit are the commands of git that treat their words as data. Options
// before the command are not data: git -c alias.x=… x runs a word.
var inertGit = set("add blame branch cat-file checkout commit describe diff help log ls-files merge-base reset restore rev-list rev-parse shortlog show stash status switch tag")

// inert reports whether the words and the input of a command are data: the
// command neither runs them nor starts a program that does.
func inert(words []string) bool {
	name := program(words[0])
	switch {
	case strings.Contains(words[0], "/") && !slices.Contains(trusted, path.Dir(words[0])): // may be any program
		return false
	case name == "printf": // -v assigns a variable, and some shells evaluate numbers
		return !slices.ContainsFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-v") || strings.Contains(w, "$(") || strings.Contains(w, "`")
		})
	case inertNames[name]:
		return true
	case name == "git":
		writes := slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--out") })
		return len(words) > 1 && inertGit[words[1]] && !writes
	}
	_, why := readsOf(words)
	return why == ""
}
