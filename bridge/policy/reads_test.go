package policy

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
)

// reads are lines that only read in /repo, and mayDoMore are lines that may start
// a program, write, send, or read something else.
var (
	reads = []string{
		"ls", "ls -la src", "pwd", "cat a.go", "cat src/a.go | head -20", "tail -n 5 a.log", "tail -n +5 a.log", "head -c 10 a", "wc -l a.go", "nl -ba a.go", "file -b a", "du -sh src", "df -h", "which -a go", "uname -a", "echo -n a", "echo ---", "date -u +%s",
		"cat /repo/a.go", "ls /repo", "ls /repo/", "grep -n x /repo/src/a.go", "cd /repo && cat a", "cd src && cat a", "cd /repo/src && ls || true", "cd src", "cat -", "cat 'a b'",
		"grep -rn 'a b' src | head", "grep -n '/etc/passwd' a.go", "grep -e ../x -e /y a", "grep \"a\\|b\" a", "grep --include='*.go' -rn x", "rg -n foo src", "rg '/etc' -g '*.go'", "rg --files src", "find . -name '*.go' -type f -mtime -1", "find src '(' -name a -o -name b ')' -print", "find /repo/src -maxdepth 2",
		"sort -u a", "sort -k2,2n -t, a", "sort -t ' ' -k 2 a", "uniq -c a", "cut -d: -f1 a", "cut -d / -f 2 a", "tr -d '/'", "tr a-z A-Z", "column -t -s ,", "diff -u a b", "diff -r --no-dereference a b", "cmp a b", "sed -n 1,20p a.go", "sed -n '5,$p' a", "sed -n '1p;3,+2p' a",
		"git status", "git status --short", "git diff HEAD -- a.go", "git diff --stat main..dev", "git diff main...HEAD", "git log --oneline -20", "git log -n 5 --since='2 days ago' --format='%h %s'", "git show 'HEAD^'", "git show HEAD:src/a.go", "git blame -L10,20 a.go", "git blame -L 10,20 a.go", "git --no-pager log -3", "git branch -vv", "git tag -l", "git remote -v", "git stash list", "git grep -n foo", "git ls-files src", "git rev-parse HEAD", "git cat-file -p HEAD:a", "git log -S foo", "git diff -M a b",
	}
	mayDoMore = map[string][]string{
		"outside": {
			"git log -L1,2:../x", "git log -L1,2:/etc/passwd", "git blame -S/etc/passwd a", "git blame -S x a", "which ../x",
			"cat /etc/passwd", "cat ../x", "cat a/../../x", "ls /", "ls ..", "ls /repository", "ls /repo2/a", "sort /etc/passwd", "sort -u -- /etc/passwd", "grep x /etc/passwd", "grep -rn x /", "grep -e x /etc/passwd", "grep -- -e /etc/passwd", "rg x /etc", "rg --files /etc", "diff /etc/passwd a", "diff a /etc/passwd", "cut -d: -f1 /etc/passwd", "uniq /etc/passwd", "wc -l /etc/passwd", "nl /etc/passwd", "file /etc/passwd", "du /", "df /srv", "find / -name x", "find /etc -name x", "find . /etc -name x", "head -1 /proc/self/environ", "sed -n 1p /etc/passwd", "cmp /etc/passwd a", "cat -n /etc/passwd", "cat a /etc/passwd",
			"cd / && cat etc/passwd", "cd /etc && cat passwd", "cd /etc", "cd /etc && ls", "cd .. && ls", "cd ../x && cat a", "cd src && cat ../../x", "git diff /etc/passwd a", "git diff --no-index a b", "git blame ../x", "git log -- /etc/x", "git grep x /etc", "git show HEAD:../x", "git diff -M /etc/passwd a", "git log -S /etc/passwd", "git ls-files /etc",
			"grep -f /etc/passwd a", "grep -R x .", "grep --dereference-recursive x .", "rg -L x", "rg --follow x", "rg -f /etc/passwd", "rg --ignore-file /etc/passwd x", "find -L . -name x", "find -H a", "find . -follow", "find . -newer /etc/passwd", "find -files0-from x", "ls -L a", "du -L a", "file -L a", "wc --files0-from=x", "sort --files0-from=x", "du --files0-from=x", "diff -r a b", "diff -ur a b", "diff --recursive a b", "diff --from-file=/etc/passwd a", "diff --to-file=x a", "date -r /etc/passwd", "date -f /etc/passwd", "file -f x", "file -m x a", "sed -n -f x a", "tail -F a", "tail -f a",
		},
		"starts": {
			"rg --pre x foo", "rg --pre=x foo", "rg --hostname-bin=x foo", "rg -z foo", "rg -nz foo", "rg --search-zip foo", "sort --compress-program=x a", "sort --compress-p=x a", "find . -exec x ';'", "find . -execdir x", "find . -ok x", "diff -l a b", "diff --paginate a b", "sed -n 's/a/b/e' f", "sed -n '1e x' f", "sed 1p -n -e 1e f", "file -z a", "git diff --ext-diff", "git log --textconv", "git grep -Ox foo", "git grep --open-files-in-pager=x foo", "git -c core.pager=x log", "git -C x status", "git --git-dir=x log", "git --exec-path=x log", "cd x && git status", "cd /repo/src && ls && git status -s", "cd /repo/x && git log", "git log --show-signature", "git log --format='%h %G?'", "git log --pretty='%GS'", "git -p log", "git help log", "git bisect log", "git difftool", "git rev-parse --parseopt", "awk 1 a", "xargs ls", "env ls", "sudo ls", "cargo --version", "go version", "ls | sh", "jq . a", "less a", "man ls", "time ls",
		},
		"writes": {
			"sort -o f a", "sort -uo f a", "sort -of a", "sort a -o f", "sort --output=f a", "sort --outp=f a", "sort -T /tmp a", "uniq a b", "uniq -c a b", "sed -i 1p a", "sed -n 1p -i f", "sed -n 'w f' a", "sed -n '1p;w f' a", "find . -delete", "find . -fprint f", "find . -fls f", "find . -fprintf f x", "git diff --output=f", "git diff --output f", "git diff --outp=f", "git shortlog --output=f", "git branch new", "git branch -D x", "git branch -f a", "git tag v1", "git tag -d v1", "git remote add x y", "git stash", "git stash pop", "git stash list x", "git worktree add x", "git reflog expire", "git cat-file --batch", "file -C -m x", "tee f", "date -s x", "date 010203", "date --set=x", "column -t f", "tr a b > f", "cat a > f", "echo x > f", "touch a", "ls -D a",
		},
		"sends":   {"curl x", "git fetch", "git remote show origin", "git remote update", "git ls-remote", "ssh h ls", "docker ps", "kubectl get pods"},
		"secrets": {"cat .env", "cat src/.env.local", "head config/token.json", "cat .ssh/id_rsa", "git show HEAD:.env", "cat x.pem", "cat config/secrets.yml", "grep KEY .env", "cat .aws/credentials", "cat .git/config", "cat .bash_history", "cat .vault-token", "cat terraform.tfstate", "git show HEAD:terraform.tfstate.backup", "cat prod.auto.tfvars", "cat .terraformrc", "cat kubeconfig", "cat x.kubeconfig", "cat service-account.json", "cat auth.json", "cat .m2/settings.xml", "cat .yarnrc.yml", "cat .dev.vars", "cat AuthKey.p8", "cat x.ovpn"},
		"unknown": {"./ls", "/tmp/cat a", "LS", "cat $HOME", "ls *.go", "ls ~", "cat a; x", "grep -y x a", "ls --hyperlink=x"},
	}
)

// TestReads checks which commands a rule covers that allows reading.
func TestReads(t *testing.T) {
	t.Parallel()
	p, errs := New([]Rule{{Name: "read", Reads: ReadsProject, Then: bridge.EffectAllow}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	judge := func(where, line string) bridge.Effect {
		return p.Judge(act("Bash", where, map[string]string{"command": line})).Effect
	}
	for _, line := range reads {
		if got := judge("/repo", line); got != bridge.EffectAllow {
			_, steps := p.Explain(act("Bash", "/repo", map[string]string{"command": line}))
			t.Errorf("%q: %s, %+v", line, got, steps)
		}
	}
	for class, lines := range mayDoMore {
		for _, line := range lines {
			if got := judge("/repo", line); got != bridge.EffectAsk {
				t.Errorf("%s: %q: %s", class, line, got)
			}
		}
	}
	for where, want := range map[string]bridge.Effect{"/repo": bridge.EffectAllow, "/": bridge.EffectAsk, "": bridge.EffectAsk, "repo": bridge.EffectAsk, "/repo/src": bridge.EffectAsk, "/repo/": bridge.EffectAllow} {
		if got := judge(where, "cat /repo/a"); got != want {
			t.Errorf("in %q: %s, want %s", where, got, want)
		}
	}
	a := act("Bash", "/repo", map[string]string{"command": "cat a"})
	if a.Doubts = []string{"a is a link"}; p.Judge(a).Effect != bridge.EffectAsk {
		t.Error("a link is read")
	}
	for _, r := range []Rule{{Reads: "all", Then: bridge.EffectAllow}, {Reads: ReadsProject, Then: bridge.EffectAsk}, {Reads: ReadsProject, Command: []string{"ls *"}, Options: []string{"-l"}, Then: bridge.EffectAllow}} {
		if _, errs := New([]Rule{r}, nil); len(errs) == 0 || !strings.Contains(errs[0].Error(), "reads: ") {
			t.Errorf("%+v: %v", r, errs)
		}
	}
	p, _ = New([]Rule{{Reads: ReadsProject, Command: []string{"cat *"}, Then: bridge.EffectAllow}}, nil)
	if judge("/repo", "cat a") != bridge.EffectAllow || judge("/repo", "ls a") != bridge.EffectAsk || judge("/repo", "cat /a") != bridge.EffectAsk {
		t.Error("a rule for cat covers something else")
	}
}

// TestReadersOnlyRead runs the programs with each option that the table has, and
// checks that they start nothing and change no file.
func TestReadersOnlyRead(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	log := filepath.Join(l.root, "started")
	for _, name := range []string{"sh", "bash", "pr", "gzip", "bzip2", "xz", "zstd", "gpg", "gpgv", "gpgsm", "ssh", "less", "more", "cat", "vi", "diff", "x"} {
		programs.Write(t, filepath.Join(l.root, "bin", name), "#!/bin/sh\necho "+name+" >>"+log+"\n")
	}
	calls := everyOption(readers)
	if git, err := exec.LookPath("git"); err == nil && !testing.Short() {
		// Since version 2.47, git goes on with maintenance in the background after a commit.
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "maintenance.auto=false", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
			if out, err := exec.Command(git, append([]string{"-C", l.dir}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %s", err, out)
			}
		}
		for _, call := range everyOption(gitReaders) {
			calls = append(calls, append([]string{"git"}, call...))
		}
	}
	before := l.files()
	ran := 0
	for _, call := range calls {
		program, err := exec.LookPath(call[0])
		if _, why := readsOf(call); why != "" {
			t.Errorf("%q: %s", call, why)
		}
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, program, call[1:]...)
		cmd.Dir, cmd.Env = l.dir, []string{"PATH=" + filepath.Join(l.root, "bin"), "HOME=" + filepath.Join(l.root, "home"), "GIT_OPTIONAL_LOCKS=0"}
		_ = cmd.Run() // some options are unknown here
		cancel()
		ran++
		if started, err := os.ReadFile(log); err == nil {
			t.Fatalf("%q started %s", call, started)
		}
	}
	if after := l.files(); !maps.Equal(before, after) {
		t.Errorf("files changed: %v, before %v", after, before)
	}
	t.Logf("%d of %d calls ran", ran, len(calls))
}

// everyOption returns a call for each option of each program.
func everyOption(table map[string]reader) [][]string {
	var out [][]string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		r := table[name]
		operands := []string{"a"}
		if r.texts > 0 {
			operands = []string{"1p", "a"}
		}
		if r.none || name == "date" {
			operands = nil
		}
		if name == "stash" || name == "worktree" {
			operands = []string{"list"}
		}
		add := func(options ...string) { out = append(out, slices.Concat([]string{name}, options, operands)) }
		add()
		for _, c := range r.flags + r.may {
			if name != "diff" || c != 'r' {
				add("-" + string(c))
			}
		}
		for _, c := range r.takes {
			add("-"+string(c), "1")
		}
		for _, o := range strings.Fields(r.long + " " + r.words) {
			if name != "diff" || o != "--recursive" {
				add(o)
			}
		}
		for _, o := range strings.Fields(r.with) {
			add(o + "=1")
		}
		for _, o := range strings.Fields(r.valued) {
			add(o, "1")
		}
	}
	return out
}

// files returns the size and time of each file in the directory of a lab.
func (l *lab) files() map[string]string {
	l.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[path] = fmt.Sprint(info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}
