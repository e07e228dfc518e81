package policy

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// knownHostile are lines that, in at least one shell, run rm or another command
// that does not follow from their words.
var knownHostile = []string{
	// Comments, and where they end.
	"ls # x\\\nrm -rf /srv", "ls #\\\nrm -rf /srv", "ls # x\rrm -rf /srv", "ls # x\nrm -rf /srv", "ls # x", "#\\\nls", "ls;#\\\nrm -rf /srv", "echo a#b", "echo 'a' #'\nrm -rf /srv #'",
	// Arithmetic that evaluates subscripts.
	"[[ -v 'a[$(rm -rf /srv)]' ]]", "[[ 'a[$(rm -rf /srv)]' -eq 0 ]]", "(( a[$(rm -rf /srv)] ))", "((rm -rf /srv))", "((rm -rf /srv) )", "let 'a[$(rm -rf /srv)]=1'", "for ((a[$(rm -rf /srv)];;)); do ls; done",
	"test -v 'a[$(rm -rf /srv)]'", "test 0 -eq 'a[$(rm -rf /srv)]'", "[ -v 'a[$(rm -rf /srv)]' ]", "read 'a[$(rm -rf /srv)]'", "unset 'a[$(rm -rf /srv)]'", "typeset 'a[$(rm -rf /srv)]=1'", "declare 'a[$(rm -rf /srv)]=1'",
	"printf -v 'a[$(rm -rf /srv)]' x", "printf -v PATH /tmp", "export 'a[$(rm -rf /srv)]=1'", "local 'a[$(rm -rf /srv)]=1'", "wait -p 'a[$(rm -rf /srv)]' 1", "getopts x 'a[$(rm -rf /srv)]'", "echo $((a[$(rm -rf /srv)]))", "echo $[a[$(rm -rf /srv)]]", "ulimit 'a[$(rm -rf /srv)]'", "shift 'a[$(rm -rf /srv)]'", "exit 'a[$(rm -rf /srv)]'", "return 'a[$(rm -rf /srv)]'", "print -v a x", "integer 'a[$(rm -rf /srv)]'",
	// Redirections.
	"ls >& /srv/f", "ls >&/srv/f", "ls &>/srv/f", "ls &>>/srv/f", "ls > /srv/f", "ls >> /srv/f", "ls >| /srv/f", "ls <> /srv/f", "ls >/dev/null/../../srv/f", "ls >/dev/nullx", "ls > /dev/null x", "ls >/dev/null$(rm -rf /srv)", "ls 2>&1x", "ls 2>&1-", "ls 3>/dev/null", "ls >&2", "ls 1>&2", "ls < /srv/f", "ls >(rm -rf /srv)", "ls <(rm -rf /srv)", ">/srv/f ls", "ls>/srv/f", "ls >'/dev/null'", "ls {fd}>/dev/null", "echo {PATH}<&0", "echo {PATH}>&1", "exec >/srv/f",
	// Assignments to special variables, and loops over them.
	"for PATH in /tmp; do ls; done", "PATH=/tmp ls", "PATH=/tmp; ls", "LD_PRELOAD=/tmp/x ls", "a=b ls", "export PATH=/tmp", "read PATH; ls", "select PATH in /tmp; do ls; done", "IFS=x ls", "PATH+=:/tmp ls", "a[0]=1 ls", "x=~ ls", "env PATH=/tmp ls",
	// Line continuations and line breaks.
	"ls \\\r\nrm -rf /srv", "ls \\\nrm", "ls\nrm -rf /srv", "ls\rrm -rf /srv", "ls \\", "\"$\\\n(rm -rf /srv)\"", "echo \"$\\\n(rm -rf /srv)\"", "echo \"$\\\n{x:=$(rm)}\"", "echo \"`\\\nrm`\"", "l\\\ns", "ls\x00rm -rf /srv", "ls\vrm", "ls\frm", "ls\u0085rm -rf /srv", "ls\u2028rm -rf /srv", "ls\u00a0-la", "ls\u3000x",
	// Here-documents.
	"cat <<E\nx\nE", "cat <<E\n$(rm -rf /srv)\nE", "cat <<'E'\nx\nE\nrm -rf /srv", "cat <<E\n\\\nE\nrm -rf /srv", "cat <<E\nE\\\n\nrm -rf /srv\nE", "cat <<-E\nx\n\tE\nrm", "cat <<<$(rm -rf /srv)", "cat <<<x", "cat <<\\E\nx\nE", "cat <<E \\\nx\nE\nrm",
	// Substitutions and expansions.
	"echo $(rm -rf /srv)", "echo `rm -rf /srv`", "echo \"$(rm -rf /srv)\"", "echo \"`rm -rf /srv`\"", "echo ${x:-$(rm -rf /srv)}", "echo ${x@P}", "echo ${!x}", "echo $HOME", "echo \"$HOME\"", "echo $'\\x41'", "echo $\"a\"", "echo $", "echo ~", "echo ~root", "ls ~/x", "ls x=~", "ls *", "ls a?", "ls [a]", "ls {a,b}", "ls {a..z}", "ls a{b,c}d", "echo =ls", "echo x==ls", "echo %self", "echo %1", "kill %1", "echo ^a^b", "ls a^b", "ls HEAD^", "ls @{0}", "ls !(x)", "ls **", "ls .../x*", "ls ....", "echo (a)", "ls (x)", "ls a|(rm)",
	// History.
	"echo !!", "echo \"!!\"", "echo \"a!rm\"", "!!", "!ls", "echo !$", "echo a!b",
	// Quotes that end at different places in different shells.
	`ls 'a''b'`, `ls 'a'"b"`, `ls 'a\'`, `ls 'a\\' ; rm -rf /srv #'`, `ls "a\"b"`, `ls "a\\"`, `ls 'a`, `ls "a`, `ls 'a'b`, `ls a\ b`, `ls \;rm`, `l's'`, `"ls"`, `'ls'`, `ls "$'a'"`, "ls '\t'", "ls 'a\nb'", "ls \"a\nb\"", `ls "\` + "`rm`" + `"`, `echo "${x-'}rm'"`,
	// Control operators and compound commands.
	"ls & rm -rf /srv", "ls &", "ls |& rm -rf /srv", "ls ;; rm", "ls ;& rm", "(rm -rf /srv)", "{ rm -rf /srv; }", "{ ls; }", "! ls", "if ls; then rm -rf /srv; fi", "while rm; do ls; done", "until rm; do ls; done", "case x in x) rm;; esac", "ls() { rm; }; ls", "function ls { rm; }", "function ls() { rm; }; ls", "coproc rm -rf /srv", "time rm -rf /srv", "repeat 1 rm", "noglob rm", "nocorrect ls", "foreach x (a) rm; end", "ls && (rm)", "ls || { rm; }", "ls;", "ls &&", "| ls", "&& ls", "ls | | rm", "and rm", "or rm", "not rm", "begin; rm; end", "-ls", "a/b", ".", "..", "/", "./", "ls&&", "ls;;", "&ls", "(ls", "ls)", "ls }", "{ls", "always rm",
	// Builtins that run code, define names or change settings.
	"eval rm -rf /srv", ". /srv/f", "source /srv/f", "alias ls=rm", "alias ls='rm -rf /srv'; ls", "trap 'rm -rf /srv' EXIT", "trap rm 0", "exec rm -rf /srv", "command rm", "builtin eval rm", "enable -f /srv/x.so ls", "hash -p /bin/rm ls", "bind -x '\"a\":rm'", "complete -C rm ls", "compgen -C rm", "mapfile -C rm -c 1 a", "fc -s rm", "r rm", "set -k", "set -o noglob", "shopt -s expand_aliases", "umask 0", "pushd /srv", "popd", "zmodload zsh/system", "autoload ls", "functions ls", "emulate sh -c rm", "sched 0 rm", "whence -v rm", "wait", "jobs -x rm", "suspend", "ulimit -n 1", "unalias -a", "sysopen -w f", "zcompile f", "abbr ls rm", "commandline rm", "functions -c rm ls", "string escape x", "dirs", "disown", "history -s rm", "print -z rm", "vared x", "mkfifo;rm",
	// cd where shells differ, or where the resulting location is unknown.
	"cd /tmp; ls", "ls | cd /tmp; ls", "cd", "cd -", "cd +1", "cd a b", "cd /tmp || ls", "cd /tmp | ls", "ls && cd /tmp", "cd '' && ls", "cd -P /tmp && ls", "cd /tmp 2>&1 && ls", "cd $HOME && ls", "cd ~ && ls", "cd /tmp && ./ls", "cd /tmp && ../ls", "cd .. && ls",
	// Programs that start others, and names that differ from the rule's.
	"./ls", "../ls", "/tmp/ls", "LS", "ls.sh", "sudo ls", "env ls", "xargs ls", "ls | xargs rm", "find . -exec rm {} +", "find . -delete", "find . -execdir rm", "timeout 5 rm", "sh -c 'rm -rf /srv'", "bash -c \"rm -rf /srv\"", "ssh h rm", "nohup rm", "ls ../x", "ls ..", "ls a/../../b", "ls --x=../y", "ls -C..", "ls 'a/../b'", "busybox rm", "/usr/bin/env ls", "ls | sh", "ls | sudo sh",
	"", " ", "ls " + long,
}

// long is a word that makes a line longer than a plain line may be.
var long = fmt.Sprintf("%01000d", 0)

func act(tool, where string, input any) bridge.Act {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err) // maps, lists and strings always encode
	}
	return bridge.Act{Agent: "ci", Tool: tool, Where: where, Input: raw}
}

// broad returns a policy that allows more than most teams would.
func broad(t testing.TB) *Policy {
	t.Helper()
	p, errs := New([]Rule{
		{Name: "never", Command: []string{"mkfs *"}, Then: bridge.EffectDeny},
		{Name: "look", Command: []string{"ls *", "echo *", "cat *", "cd *", "kill *", "true *", "find *", "git status *", "git log *", "grep *"}, Then: bridge.EffectAllow},
	}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return p
}

// TestKnownHostile checks that a line is never allowed if shells read it in
// different ways, or if it runs more than its words state.
func TestKnownHostile(t *testing.T) {
	t.Parallel()
	p := broad(t)
	for _, s := range knownHostile {
		for _, field := range []string{"command", "cmd", "script", "argv", "Command", "commandLine"} {
			r := p.Judge(act("Bash", "/repo", map[string]any{field: s}))
			if r.Effect == bridge.EffectAllow || len(r.Grants) > 0 {
				t.Errorf("%s %q is allowed: %+v", field, s, r)
			}
		}
	}
	if n := len(knownHostile); n < 235 {
		t.Errorf("%d lines", n)
	}
}

// TestPlainLines checks that everyday lines are plain, and that their words are
// read as written.
func TestPlainLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"ls": "[ls]", " ls  -la ": "[ls -la]", "go test ./... 2>&1 | tail -20": "[go test ./...] [tail -20]", "git log --format='%h %s' -n 5": "[git log '--format=%h %s' -n 5]",
		"grep -rn 'foo!' src | head -5": "[grep -rn 'foo!' src] [head -5]", "cd /repo && git status": "[cd /repo] [git status]", "cd /repo": "[cd /repo]", "npm run build >/dev/null 2>&1; echo done": "[npm run build] [echo done]",
		"a||b&&c;d|e": "[a] [b] [c] [d] [e]", "kubectl get pods -o jsonpath='{.items[*].metadata.name}'": "[kubectl get pods -o 'jsonpath={.items[*].metadata.name}']", "cargo test --features=a,b 2> /dev/null": "[cargo test --features=a,b]",
		`git commit -m "it's done"`: `[git commit -m "it's done"]`, "./run.sh x@y:z %a": "", "./run.sh x@y:z a%b +c": "[./run.sh x@y:z a%b +c]", "/usr/bin/make -j4": "[/usr/bin/make -j4]", "git diff 'HEAD^' -- a.go": "[git diff 'HEAD^' -- a.go]",
		"curl -s 'http://127.0.0.1:1/x?a=b&c=d' | jq -r '.a | .b'": "[curl -s 'http://127.0.0.1:1/x?a=b&c=d'] [jq -r '.a | .b']", "pytest -k 'a and not b' -x": "[pytest -k 'a and not b' -x]", "sed -n 1,20p a.go": "[sed -n 1,20p a.go]", "sort ''": "[sort '']",
		"HEAD~1": "", "git show HEAD~1": "", "printf x": "", "test -f x": "", "X=1 make": "", "a > b": "", "ls *.go": "",
	} {
		got := ""
		calls, err := plain(line)
		for n, c := range calls {
			if n > 0 {
				got += " "
			}
			got += "[" + quote(c.words) + "]"
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v; want %s", line, got, err, want)
		}
	}
}
