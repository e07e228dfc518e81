package policy

import (
	"path"
	"slices"
	"strings"
)

// inertNames are programs whose words are data: they run none of them, and no
// part of their standard input. Readers are inert too, with the options that they
// may have.
var inertNames = set(`
	cd pushd popd echo printf true false pwd date sleep basename dirname realpath readlink which type hash stat
	md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum base64 base32 od xxd hexdump
	strings fold fmt rev tac expand unexpand paste join comm jq mkdir touch
`)

// inertGit are the commands of git whose words are data. Before them, no option
// is data: git -c alias.x=… x runs a word.
var inertGit = set("add blame branch cat-file checkout commit describe diff help log ls-files merge-base reset restore rev-list rev-parse shortlog show stash status switch tag")

// inert reports whether the words of a command, and what it reads, are data: it
// neither runs them nor starts something that does.
func inert(words []string) bool {
	name := program(words[0])
	switch {
	case strings.Contains(words[0], "/") && !slices.Contains(trusted, path.Dir(words[0])): // may be any program
		return false
	case inertNames[name]:
		return true
	case name == "git":
		return len(words) > 1 && inertGit[words[1]]
	}
	_, why := readsOf(words)
	return why == ""
}

// interpreters run what they read, or the text that a word after an option
// holds. Values are the letters of such options.
var interpreters = map[string]string{
	"sh": "c", "bash": "c", "dash": "c", "zsh": "c", "ksh": "c", "mksh": "c", "ash": "c", "yash": "c", "fish": "c", "csh": "c", "tcsh": "c", "nu": "c",
	"pwsh": "c", "powershell": "c", "cmd": "c", "su": "c", "script": "c", "expect": "c",
	"python": "c", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "bun": "ep", "deno": "", "php": "rBRE", "lua": "e", "tclsh": "",
	"osascript": "e", "rscript": "e", "groovy": "e", "julia": "eE", "ssh": "", "source": "", ".": "", "at": "", "batch": "", "crontab": "",
}

// interpreter returns the letters of the options with which a program runs a
// text, and whether it is an interpreter. The version of a program does not
// count, as in python3.12.
func interpreter(name string) (letters string, ok bool) {
	letters, ok = interpreters[name]
	if !ok {
		letters, ok = interpreters[strings.TrimRight(name, "0123456789.")]
	}
	return letters, ok
}
