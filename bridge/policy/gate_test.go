package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// spellings are lines that run git push, in every way that is known.
var spellings = []string{
	// Options, directories and names of the program.
	"git push", "git push origin main", "git -C . push", "git -C 'a b' push", "git --git-dir .git push", "git --git-dir=.git --work-tree=. push", "git -c user.name=x push", "git -p push", "git --no-pager push --force", "git push>/dev/null", "git push 2>&1 | tail -5",
	"/usr/bin/git push", "./git push", "../bin/git push", "~/bin/git push", "GIT push", "Git Push", "git.exe push", "git-push origin", "/usr/lib/git-core/git-push", "git -c alias.p=push p", "git config alias.p push; git p", "git -c alias.p='!git push' p",
	// Quotes and escapes.
	"'git' push", `g"i"t push`, `g\it push`, "git 'push'", `git "pu""sh"`, `git p\ush`, "gi\\\nt push", `$'git' push`, `$'\x67it' push`, "git $'\\x70ush'", `"git" "push"`, `git "push" 'origin'`,
	// Programs that start another.
	"env git push", "env A=1 git push", "env -i git push", "env -S 'git push'", "env -S'git push'", "command git push", "command -p git push", "builtin command git push", "exec git push", "exec -a x git push", "nohup git push", "timeout 5 git push", "timeout -s KILL 5s git push", "nice git push", "nice -n 5 git push", "ionice -c 3 git push", "time git push", "time -p git push",
	"sudo git push", "sudo -u ana git push", "doas git push", "setsid git push", "stdbuf -oL git push", "watch git push", "watch -n 1 'git push'", "strace git push", "flock /tmp/l git push", "flock /tmp/l -c 'git push'", "script -c 'git push' /dev/null", "unshare git push", "chroot / git push", "busybox sh -c 'git push'", "caffeinate git push", "xvfb-run git push", "direnv exec . git push",
	"mise exec -- git push", "poetry run git push", "uv run git push", "npx git push", "docker run x git push", "docker exec c sh -c 'git push'", "kubectl exec p -- git push", "ssh h git push", "ssh h 'git push'", "su -c 'git push'", "su ana -c 'git push'", "tmux new -d 'git push'", "screen -dm git push", "systemd-run git push", "jj git push", "op run -- git push", "hyperfine 'git push'", "parallel git ::: push", "parallel 'git push' ::: a", "entr git push", "make -f - <<< 'a:; git push'",
	"find . -maxdepth 0 -exec git push ';'", "find . -exec git push {} +", "find . -ok git push \\;", "find . -exec sh -c 'git push' \\;", "find . -execdir git {} \\;", "xargs git push", "echo push | xargs git", "echo origin | xargs -n1 git push", "echo git push | xargs -n9 env", "echo push | xargs -I{} git {}", "echo x | xargs -I{} sh -c 'git push {}'", "echo 'git push' | xargs -0 sh -c",
	// Shells and scripts.
	"sh -c 'git push'", "bash -lc 'git push'", `bash -c "git push"`, "bash -ec 'cd x; git push'", "zsh -ic 'git push'", "dash -c 'git push'", `sh -c 'git "$@"' _ push`, `sh -c '$0 push' git`, `sh -c "sh -c 'git push'"`, "/bin/sh -c 'git  push'", "echo 'git push' | sh", "echo 'git push' | bash -s", "printf 'git %s' push | sh", "cat x | bash", "sh <<E\ngit push\nE", "bash <<'E'\ngi\\\nt push\nE", "bash <<< 'git push'", "bash < <(echo git push)", "sh /dev/stdin <<< 'git push'", "bash <(echo git push)",
	"source <(echo git push)", ". /dev/stdin <<< 'git push'", "eval git push", "eval 'git push'", `eval "git pu""sh"`, `eval "$X"`, "eval 'gi''t push'", "trap 'git push' EXIT", "alias p='git push'; p", "alias g=git; g push", "cat > x.sh <<E\ngit push\nE\nsh x.sh", "echo 'git push' > x.sh; sh x.sh", "cat <<E | sh\ngit push\nE", "tee x.sh <<< 'git push'; sh x.sh", "base64 -d <<< Z2l0IHB1c2g= | sh", "base64 -d <<< cHVzaA== | xargs git",
	"python3 -c 'import os; os.system(\"git push\")'", "python3 - <<E\nimport os\nE", "python3 <<< x", "python -c x", "python3.12 -c x", "perl -e 'exec qw(git push)'", "perl -pe x f", "ruby -e 'x'", "node -e 'x'", "node --eval x", "node -p x", "php -r x", "lua -e x", "osascript -e x", "deno eval x", "bun -e x", "awk 'BEGIN{system(\"git push\")}'", "awk 'BEGIN{system(\"gi\" \"t push\")}'", "gawk 'BEGIN{\"git push\" | getline}'", "awk 'BEGIN{print | \"git push\"}'", "sed '1e git push' f", "vim -c ':!git push' f", "ex -c '!git push'",
	// Expansions.
	"$(echo git) push", "`echo git` push", "git $(echo push)", "git pu$(echo sh)", "git $X", "$X push", "$X", "\"$X\" a", "g${x}it push", "git${IFS}push", "{git,push}", "g{it,} push", "git p*h", "/usr/bin/gi? push", "/usr/bin/gi[t] push", "a=git; $a push", "a=push; git $a", "set -- git push; \"$@\"", "IFS=_; x=git_push; $x", "x=(git push); \"${x[@]}\"", "for c in push; do git $c; done", "for g in git; do $g push; done", "while read l; do $l; done <<< 'git push'", "echo 'git push' | while read l; do $l; done", "x='git push'; $x", "x='git push'; eval $x",
	// Compound commands.
	"ls && git push", "ls; git push", "ls | git push", "ls & git push", "git push &", "(git push)", "{ git push; }", "! git push", "if git push; then ls; fi", "if ls; then git push; fi", "while git push; do ls; done", "until git push; do ls; done", "for x in 1; do git push; done", "case x in x) git push;; esac", "f() { git push; }; f", "function f { git push; }; f", "g() { git \"$@\"; }; g push", "g() { git p\"$1\"; }; g ush", "coproc git push", "echo $(git push)", "echo \"$(git push)\"", "echo `git push`", "ls <(git push)", "ls > >(git push)", "x=$(git push)", "echo ${x:-$(git push)}", "echo $((a[$(git push)]))", "[[ -v 'a[$(git push)]' ]]", "test -v 'a[$(git push)]'", "declare 'a[$(git push)]=1'", "(( a[$(git push)] ))", "cd x && git push", "cd x; git push", "ls\ngit push", "ls # x\ngit push", "A=1 git push", "PROMPT_COMMAND='git push' bash -i", "echo *(e:'git push':)", "git push; ls 'unclosed", "ls 'unclosed\ngit push", "time -p (git push)", "git \\\n push",
	"echo Z2l0IHB1c2g= | base64 -d > x; sh x", "base64 -d <<< Z2l0IHB1c2g= > x.sh && chmod +x x.sh && ./x.sh", "curl -s x -o y; curl -s x > z; bash ./z", "coproc sh; echo 'git push' >&${COPROC[1]}", "exec 3> >(sh); echo 'git push' >&3", "echo 'git push' > >(sh)", "echo 'git push' | tee >(sh)", "> /dev/null git push", "git submodule foreach 'git push'", "git rebase -x 'git push' main", "git bisect run git push", "$SHELL -c 'git push'", "noglob git push", "echo 'git push' | . /dev/stdin", "read x <<< 'git push'; $x", "ssh h <<E\ngit push\nE", "echo 'git push' | ssh h",
	// Other names of the program, and aliases.
	"git log -1 --format='git push' --output=x.sh; sh x.sh", "git log -1 --format='%x67it push' --output=x.sh; sh x.sh", "hash -p /usr/bin/git g; g push", "hash -p /bin/sh date; date -c 'git push'", "alias g='command git'\ng push", "alias g='\\git'\ng push", "alias g='env git '\ng push", "alias echo=eval\necho 'git push'",
	"X=push git --config-env=alias.p=X p", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p", "GIT_CONFIG_PARAMETERS=\"'alias.p=push'\" git p", "env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p", "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push; git p", "git config ALIAS.p push; git p", "git config --add Alias.p push; git p", "git -c Alias.p=push p", "git -c include.path=x p", "printf '[alias]\\np=push' >> .git/config; git p", "BASH_ENV=<(echo x) bash -c ls",
	"ln -s /usr/bin/git g; ./g push", "cp /usr/bin/git /tmp/g; /tmp/g push", "cp \"$(which git)\" g; ./g push", "ln -s $(command -v git) g && ./g push", "install /usr/bin/git g; ./g push", "printf -v 'a[$(git push)]' x", "printf '%d' 'a[$(git push)]'", "printf -v 'a[$(g\"\"it push)]' x",
	// Files that the line writes.
	"base64 -d <<< Z2l0IHB1c2g= > x; sh < x", "base64 -d <<< Z2l0IHB1c2g= > x.sh; bash /repo/x.sh", "base64 -d <<< Z2l0IHB1c2g= > x; mv x y; sh y", "base64 -d <<< Z2l0IHB1c2g= > x; cp x y; sh y", "base64 -d <<< Z2l0IHB1c2g= > x; { sh; } < x", "openssl base64 -d -out x.sh <<< Z2l0IHB1c2g=; sh x.sh", "echo 6769742070757368 | xxd -r -p - x.sh; sh x.sh", "base64 -d <<< Z2l0IHB1c2g= | dd of=x.sh; sh x.sh", "base64 -d <<< Z2l0IHB1c2g= | tee x.sh; sh x.sh", "curl -s u -o y; bash y", "git commit -m 'git push'; sh .git/COMMIT_EDITMSG", "base64 -d <<< YTo7Z2l0IHB1c2g= > Makefile; make",
	// Text that another program runs, with quotes in it.
	`watch 'g""it push'`, `flock /tmp/l -c 'g""it push'`, `tmux new -d 'g""it push'`, `parallel 'g""it push' ::: a`, `hyperfine 'g""it push'`, `git rebase -x 'g""it push' main`, `git submodule foreach 'g""it push'`, `env -S 'g""it push'`, `npx -c 'g""it push'`, `nix-shell --run 'g""it push'`, `tmux new -d '$X push'`, `watch '$X push'`, `npm exec -c '$X push'`, `tmux new -d 'cd x && $X push'`, "cmd /c g^it push", "less +'!g\"\"it push' f", "man -P 'g\"\"it push' ls", "git -c core.pager='g\"\"it push' log", "PAGER='g\"\"it push' git -p log", "EDITOR='g\"\"it push' git commit",
	"tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='g\"\"it push' x", "rsync -e 'g\"\"it push' a b:c", "make SHELL='/bin/sh' .SHELLFLAGS='-c g\"\"it' push", "sort --compress-program='g\"\"it push' f", "split --filter='g\"\"it push' f", "gdb -batch -ex '!g\"\"it push'", "mysql -e '\\! g\"\"it push'", "psql -c '\\! g\"\"it push'", "sqlite3 :memory: '.shell g\"\"it push'", "ed <<< '!g\"\"it push'", "dc -e '!g\"\"it push'", "expect -c 'spawn g\"\"it push'", "socat - EXEC:'git push'", `socat - SYSTEM:"git push"`, "make -f - <<E\na:\n\t@git push\nE", "make -f - <<E\na:\n\t-git push\nE", "make -f - <<E\na:\n\t+git push\nE", "make -f - <<E\na: ;@git push\nE",
	// A shell with a script, in any place.
	`docker run x sh -c 'g""it push'`, `uv run sh -c 'g""it push'`, `direnv exec . sh -c 'g""it push'`, `git bisect run sh -c 'g""it push'`, `docker run x sh -c '$X push'`, `xvfb-run sh -c '$X push'`, "runuser -u ana -- sh -c 'g\"\"it push'", "sudo -u ana -- sh -c 'g\"\"it push'", "sudo -s <<< 'g\"\"it push'", "sudo -s 'g\"\"it push'", "unshare -r sh -c 'g\"\"it push'", "nsenter -t 1 sh -c 'g\"\"it push'", "time -f %e sh -c 'g\"\"it push'", "timeout --foreground -k 5 10 sh -c 'g\"\"it push'", "env -u A -C /x sh -c 'g\"\"it push'", "xargs -a f -n 1 sh -c 'g\"\"it push'", "taskset 0x1 sh -c 'g\"\"it push'", "flock -n 9 sh -c 'g\"\"it push'", "nohup sh -c 'g\"\"it push' &", "bwrap --bind / / sh -c 'g\"\"it push'", "gosu ana sh -c 'g\"\"it push'", "cpulimit -l 5 -- sh -c 'g\"\"it push'", "aws-vault exec x -- sh -c 'g\"\"it push'",
	"bash -O extglob -c 'g\"\"it push'", "bash +x -c 'g\"\"it push'", "bash -o pipefail -c 'g\"\"it push'", "sh +e -c 'g\"\"it push'", "sh -c -e 'g\"\"it push'", "fish --command='g\"\"it push'", "fish -C 'g\"\"it push'", "su --command='g\"\"it push'", "su - ana -c 'g\"\"it push'", "script -qc 'g\"\"it push' /dev/null", "script --command='g\"\"it push' x", "rbash -c 'g\"\"it push'", "ksh93 -c 'g\"\"it push'", "toybox sh -c 'g\"\"it push'", "bash -s x <<< 'g\"\"it push'", "bash --init-file <(echo g\"\"it push) -i", "bash /dev/fd/3 3<<< 'g\"\"it push'", "powershell -enc ZwBpAHQA", "powershell -EncodedCommand ZwBpAHQA", "pwsh -e ZwBpAHQA", "powershell -Command \"& 'git' push\"", "exec > >(sh); echo 'git push'", "echo 'git push' | if true; then sh; fi",
	// Other languages.
	`awk 'BEGIN{c="gi" "t pu" "sh"; print "" | c}'`, `gawk 'BEGIN{f="sys" "tem"; @f("gi" "t push")}'`, `awk 'BEGIN{c="gi" "t push"; printf "" |& c}'`, `awk '/"/{print "" | c} /"/'`, `sed '1e g""it push' f`, `echo x | sed 's/x/git push/e'`, `echo x | sed 's#x#git push#e'`, `echo x | sed 's/x/gi\x74 push/e'`, "sed -n '1{e git push' -e '}' f", "elixir -e 'System.cmd(\"gi\" <> \"t\", [\"pu\" <> \"sh\"])'", "R -e x", "guile -c x", "emacs --batch --eval x", "vim -c 'exe \"!gi\".\"t push\"'", "ghci -e x", "scala -e x", "raku -e x", "octave --eval x", "xonsh -c x", "ts-node -e x", "node --eval=x", "node -r ./a -e x", "php --run x", "php -d a=b -r x", "python3 -m timeit -s 'import os' x", "python3 -W ignore -c x", "python3 -Ic x", "perl -I lib -e x", "deno run - <<< x", "python3 /dev/fd/3 3<<< x", "m4 <<< x",
	strings.Repeat("ls; ", 9000) + "git push", "sh -c \"sh -c \\\"sh -c 'sh -c \\\"sh -c git\\\\ push\\\"'\\\"\"",
}

// others are lines that do not run git push, although many contain its words.
var others = []string{
	"ls", "git status", "git -C x status", "git log --oneline -20", "git commit -m 'push it'", "git commit -m push", "git commit -m \"$(cat <<'E'\nfix: git push fails\n\nSee git push.\nE\n)\"", "git stash push", "git log --grep push", "git checkout push", "git help push", "git show HEAD:push", "git fetch", "git pull", "git --no-pager log", "git diff $(git merge-base a b)",
	"grep -rn 'git push' docs", "grep -rn \"git push\" . | head -5", "rg 'git push'", "echo 'git push'", "echo \"git push\" | grep push", "printf 'git push\\n'", "wc -c <<< 'git push'", "cat <<E\ngit push\nE", "md5sum <<E\ngit push\nE", "sed -n 1,20p push.go", "cat push.md | head -3", "make push", "npm run push", "docker push x",
	"go test ./...", "go test ./... 2>&1 | tail -20", "ls *.go", "echo $HOME", "X=1 make", "make -j$(nproc)", "for f in *.go; do gofmt -l \"$f\"; done", "find . -name '*.go' | xargs grep -l push", "find . -name '*.go' -exec grep -l push {} +", "python3 scripts/push.py", "node build.js > out.txt", "bash scripts/push.sh", "bash -lc 'git status'", "sh -c 'go test ./...'", "timeout 5 go test ./...", "sudo apt-get install jq", "awk '{print $1}' f", "awk '/push/ {print}' f", "env A=1 go test", "(cd x && ls)", "if [ -f x ]; then cat x; fi", "test -f x && cat x", "ls > out.txt", "$HOME/go/bin/staticcheck --push", "git add . && npm run push", "echo 'unused'",
	"gh pr view 222 --json files --jq '.files[] | \"\\(.path)\"'", "git grep -n push | grep x", "git mv a b; ls b", "sed -i 's/a/b/g' f", "sed 's/e/x/' e.txt", "sed -e 's/a/e/' -e '/x/d' f", "sed -n '/a/,/e/p' f", "awk '{print $1 \" | \" $2}' f", "awk -F'|' '{print $2}' f", "awk '/a|b/ {print}' f", "awk '{print \"a\", $1} /x|y/' f",
	"python3 -m pytest -c pytest.ini", "python3 -W ignore app.py -c x", "node server.js -e prod", "curl -o x.json https://x && cat x.json", "cp a b && ls", "npm install node", "psql -c 'select 1'", "vim --version", "printf '%s\\n' x", "printf '$(x)' > f", "type git", "which git", "command -v git", "make build > build.log; make test", strings.Repeat("sh -c 'ls'; ", 9) + "ls", "go build -o app . && ./app", "chmod +x x.sh && ./x.sh", "bash -o pipefail -c 'make test'", "sudo -u www sh -c 'ls'",
}

// gated reports whether a line needs a person because of a gate.
func gated(p *Policy, gate, line string) bool {
	a := act("Bash", "/repo", map[string]string{"command": line})
	a.Gate = gate
	return p.Judge(a).Demands()
}

// TestGateSpellings checks that a gate selects its command in every spelling, and
// leaves other commands alone.
func TestGateSpellings(t *testing.T) {
	t.Parallel()
	p, _ := New(nil, nil)
	for _, line := range spellings {
		if !gated(p, "Bash(git push *)", line) {
			t.Errorf("%q needs no person", line)
		}
	}
	for _, line := range others {
		if gated(p, "Bash(git push *)", line) {
			t.Errorf("%q needs a person", line)
		}
	}
}

// TestGateRules checks what the rules of gates select.
func TestGateRules(t *testing.T) {
	t.Parallel()
	p, _ := New(nil, nil)
	for gate, lines := range map[string]struct{ yes, no []string }{
		"Bash(git push:*)":           {[]string{"git push", "git push -f"}, []string{"git pull"}},
		"Bash(git push)":             {[]string{"git push", "git push -f x"}, []string{"git pull"}},
		"Bash(rm -rf *)":             {[]string{"rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rf", "rm -Rvf x", "rm --recursive --force x", "rm --rec --fo x", "rm $X y", "sudo rm -r x -f"}, []string{"rm x", "rm -r x", "rm -f x", "rmdir x"}},
		"Bash(git push --force *)":   {[]string{"git push --force", "git push origin main --force", "git push -f", "git push -uf", "git push --forc", "git push --force-with-lease", "git push $X"}, []string{"git push", "git push --follow-tags origin", "git push -u origin main"}},
		"Bash(kubectl delete *)":     {[]string{"kubectl -n prod delete pod x", "kubectl --context=a delete pod x", "kubectl --context a -n b delete x"}, []string{"kubectl get pods", "kubectl describe pod delete"}},
		"Bash(terraform * apply *)":  {[]string{"terraform apply", "terraform -chdir=x apply", "terraform workspace apply"}, []string{"terraform plan"}},
		"Bash(npm run deploy:*)":     {[]string{"npm run deploy", "npm --prefix x run deploy", "npm run -s deploy -- x"}, []string{"npm run test", "npm run"}},
		"Bash(curl *)":               {[]string{"curl x", "sudo curl x", "/usr/bin/curl x", "ls | xargs curl"}, []string{"cd curl", "ls curl", "cat curl.md"}},
		"Bash(* --force)":            {[]string{"git push --force", "rm --force x", "x -f"}, []string{"git push", "ls"}},
		"Bash(./deploy.sh *)":        {[]string{"./deploy.sh", "bash deploy.sh", "sh ./deploy.sh prod", "../x/deploy.sh"}, []string{"cat deploy.sh", "./build.sh"}},
		"Bash":                       {[]string{"ls"}, nil},
		"Bash(*)":                    {[]string{"ls"}, nil},
		"*":                          {[]string{"ls"}, nil},
		"B.*h":                       {[]string{"ls"}, nil},
		"Write":                      {nil, []string{"git push"}},
		"mcp__prod__.*":              {nil, []string{"git push"}},
		"Write|Bash(git push *)":     {[]string{"git push"}, []string{"ls"}},
		"Bash(git push *)|Bash(rm*)": {[]string{"git push", "rm x"}, []string{"ls"}},
		"Bash(git push":              {[]string{"ls"}, nil},
		"Bash('x)":                   {[]string{"ls"}, nil},
		"Bash(/usr/bin/)":            {[]string{"ls"}, nil},
	} {
		for _, line := range lines.yes {
			if !gated(p, gate, line) {
				t.Errorf("%s: %q needs no person", gate, line)
			}
		}
		for _, line := range lines.no {
			if gated(p, gate, line) {
				t.Errorf("%s: %q needs a person", gate, line)
			}
		}
	}
	for _, c := range []struct {
		gate, tool, input string
		want              bool
	}{
		{"Edit(src/**)", "Write", `{"file_path":"/repo/src/a.go","content":"x"}`, true}, {"Edit(src/**)", "Edit", `{"file_path":"x/../src/a.go"}`, true}, {"Edit(src/**)", "Write", `{"file_path":"/repo/notes/a.md"}`, false},
		{"Write(.env)", "Edit", `{"file_path":"/repo/.env"}`, true}, {"Write(.env)", "Edit", `{"file_path":"/repo/.envrc"}`, false}, {"Edit(//etc/**)", "Edit", `{"file_path":"/etc/passwd"}`, true}, {"Read(~/.ssh/**)", "Grep", `{"path":"/home/a/.ssh/id_rsa","pattern":"x"}`, true}, {"Read(*.pem)", "Read", `{"file_path":"/repo/A.PEM"}`, true}, {"Edit(src/**)", "Edit", `{}`, true},
		{"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://api.example.com:8443/x"}`, true}, {"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://EXAMPLE.com./x"}`, true}, {"WebFetch(domain:example.com)", "WebFetch", `{"url":"https://example.com.evil.org/x"}`, false}, {"WebFetch(domain:example.com)", "WebFetch", `{"url":"x"}`, true},
		{"Task(x)", "Task", `{}`, true}, {"Bash(git push *)", "Bash", `{"command":["git","push"]}`, true}, {"Bash(git push *)", "Bash", `{"command":["git","status"]}`, false}, {"Bash(git push *)", "Bash", `{"cmd":"git","args":["push"]}`, true}, {"Bash(git push *)", "Bash", `{"x":1}`, true}, {"Bash(git push *)", "Bash", `{"command":"a","Command":"git push"}`, true}, {"Bash(git push *)", "Monitor", `{"command":"git push"}`, true}, {"Bash(git push *)", "PowerShell", `{"command":"& git push"}`, true}, {"Bash(git push *)", "PowerShell", `{"command":"iex 'git push'"}`, true},
	} {
		if got := p.Judge(bridge.Act{Tool: c.tool, Where: "/repo", Input: []byte(c.input), Gate: c.gate}).Demands(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestGateAndRules checks that the rules of the policy and gates are joined: the
// stricter one decides.
func TestGateAndRules(t *testing.T) {
	t.Parallel()
	p, errs := New([]Rule{
		{Name: "never", Command: []string{"mkfs *"}, Then: bridge.EffectDeny},
		{Name: "publish", Command: []string{"npm publish *"}, Then: bridge.EffectAsk, Quorum: 2},
		{Name: "git", Command: []string{"git *", "ls *"}, Then: bridge.EffectAllow},
	}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		gate, line string
		gated      bool
		effect     bridge.Effect
	}{
		{"Bash(git push *)", "git push", true, bridge.EffectAsk}, {"Bash(git push *)", "git status", false, bridge.EffectAllow}, {"Bash(git push *)", "npm publish", true, bridge.EffectAsk}, {"Bash(git push *)", "mkfs /dev/sda", true, bridge.EffectDeny}, {"Bash(git push *)", "make", false, bridge.EffectAsk},
		{"Bash(git push *)|Bash(make *)", "make", true, bridge.EffectAsk}, {"", "git push", false, bridge.EffectAllow}, {"", "make", false, bridge.EffectAsk},
	} {
		a := act("Bash", "/repo", map[string]string{"command": c.line})
		a.Gate = c.gate
		if r := p.Judge(a); r.Demands() != c.gated || r.Effect != c.effect {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// TestParseGates checks how gates are read and written.
func TestParseGates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Gate{
		"": {}, " ": {}, "Bash": {{Tools: "Bash"}}, "*": {{Tools: "*"}}, "Bash(git push *)": {{"Bash", "git push *"}}, "Bash(*)|Write": {{Tools: "Bash"}, {Tools: "Write"}},
		"Bash(a|b) | mcp__(a|b)__.*": {{"Bash", "a|b"}, {Tools: "mcp__(a|b)__.*"}}, "Bash(f (x))": {{"Bash", "f (x)"}},
	} {
		if got, err := ParseGates(text); err != nil || !slices.Equal(got, want) || got == nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"|", "Bash|", "Bash(git push", "Bash (x)", "a b", "(", "x'y"} {
		if got, err := ParseGates(text); bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "--gate") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if g := (Gate{"Bash", "git push *"}); g.String() != "Bash(git push *)" || g.Family() != "Bash|Monitor|PowerShell|mcp__workspace__bash" || (Gate{Tools: "Write"}).Family() != "Write" {
		t.Errorf("%s, %s", g, g.Family())
	}
}

// TestDataIsNotRun checks that deny rules ignore what is data of a command, and
// that they see what something may run.
func TestDataIsNotRun(t *testing.T) {
	t.Parallel()
	p, errs := New([]Rule{{Name: "never", Command: []string{"rm -rf *", "git push *"}, Then: bridge.EffectDeny}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for want, lines := range map[bridge.Effect][]string{
		bridge.EffectAsk: {
			"cat <<E\nrm -rf /\nE", "cat <<'E' | grep rm\nrm -rf /\nE", "md5sum <<E\nrm -rf /\nE", "wc -c <<< 'rm -rf /'", "echo $'rm -rf /'", "echo \"$X\"'; rm -rf /'", "git commit -m \"$(cat <<'E'\nfix\n\nrm -rf /\nE\n)\"", "grep -rn 'rm -rf /' . | head -$N", "printf 'a; rm -rf /\\n'", "git log --grep \"rm -rf /; $X\"",
			// Another spelling may be something else, so a person decides.
			"rm -r -f x", "rm -fr x", "git -C . push", "git --no-pager push",
		},
		bridge.EffectDeny: {
			"rm -rf /", "cat <<E | sh\nrm -rf /\nE", "bash <<E\nrm -rf /\nE", "bash <<< 'rm -rf /'", "cat > x.sh <<E\nrm -rf /\nE", "echo \"$(rm -rf /)\"", "cat <<E\n$(rm -rf /)\nE", "eval 'rm -rf /'", "sh -c 'rm -rf /' > f", "cat <<'E'\nx\nE\nrm -rf /", "ssh h 'rm -rf /'", "git commit -m x; rm -rf /",
		},
	} {
		for _, line := range lines {
			if r := p.Judge(act("Bash", "/repo", map[string]string{"command": line})); r.Effect != want {
				t.Errorf("%q: %+v, want %s", line, r, want)
			}
		}
	}
}
