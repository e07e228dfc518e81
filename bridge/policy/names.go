package policy

import (
	"path"
	"strings"
)

// refused lists names that not all shells look up as programs: reserved words,
// builtins and predefined aliases of bash, dash, zsh, ksh93, mksh, busybox ash,
// yash and fish. The list omits the builtins cd, cat, echo, false, kill, pwd,
// realpath, sleep, true, type and which, because they do not evaluate their
// arguments.
var refused = set(`
	if then else elif fi for while until do done case esac in select function time coproc foreach end repeat
	nocorrect noglob always namespace and or not begin switch exec eval command builtin source

	alias unalias bg fg bind bindkey break continue caller chdir compgen complete compopt declare typeset local
	private readonly export dirs pushd popd disown enable disable exit logout bye fc r hash rehash unhash help
	hist history jobs let mapfile readarray printf print pushln read return set setopt unsetopt unset unsetenv
	setenv shift shopt stop suspend test times trap ulimit limit unlimit umask wait whence where newgrp login
	nohup

	autoload compadd compcall compctl compdescribe compfiles compgroups compquote comparguments comptags comptry
	compset compvalues echotc echoti emulate float integer functions unfunction getln getopts log sched ttyctl
	vared zcompile zformat zle zmodload zparseopts zregexparse zstyle zcurses zprof zpty zselect zsocket zstat
	zsystem zftp ztcp ztie zuntie run-help which-command

	compound enum nameref redirect global rename array

	_ abbr argparse block breakpoint commandline contains count emit math path random set_color status string cdh
	dirh nextd prevd funced funcsave isatty la ll psub export fish_add_path fish_config
`)

// starters are programs that start another command, which they take from their
// arguments or read from elsewhere. An allow rule applies to them only if it
// spells out every word.
var starters = set(`
	sudo doas su runuser env nohup nice ionice chrt taskset xargs parallel timeout stdbuf setsid watch chroot
	unshare nsenter flock script strace ltrace gdb valgrind busybox toybox entr ssh time exec command builtin
	eval source trap alias caffeinate osascript systemd-run setpriv unbuffer expect rlwrap start-stop-daemon
	sh bash dash zsh ksh ksh93 mksh ash yash fish rbash rksh csh tcsh nu pwsh powershell cmd
`)

// otherShells lists words in names of tools, and names of shells, that indicate
// a shell with a syntax other than that of a POSIX shell.
var otherShells = set(`powershell pwsh cmd batch nu nushell csh tcsh xonsh elvish rc es`)

// knownShells are the shells that are accepted in a field named shell.
var knownShells = set(`sh bash dash ash ksh ksh93 mksh zsh yash fish`)

// configured are programs that start other programs named by files in the
// current directory. A repository can contain such a directory: if it contains
// a bare repository whose configuration sets core.fsmonitor, git status starts
// that program.
var configured = set(`git hg svn jj`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// program returns the name of a program without its directory and in lower
// case, because some file systems ignore case.
func program(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	return strings.TrimSuffix(strings.ToLower(path.Base(name)), ".exe")
}

// starts reports whether a command starts another command, or is a search that
// can change files.
func starts(words []string) bool {
	name := program(words[0])
	if name == "find" {
		for _, w := range words[1:] {
			for _, option := range []string{"-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"} {
				if strings.HasPrefix(w, option) {
					return true
				}
			}
		}
	}
	return starters[name] || strings.HasPrefix(name, "busybox")
}

// climbs reports whether a word names a parent directory.
func climbs(w string) bool {
	for n := 0; n+1 < len(w); n++ {
		if w[n:n+2] != ".." {
			continue
		}
		begins := n == 0 || w[0] == '-' || !isAlnum(w[n-1]) && w[n-1] != '.'
		ends := n+2 == len(w) || w[n+2] != '.' && !isAlnum(w[n+2])
		if begins && ends {
			return true
		}
	}
	return false
}
