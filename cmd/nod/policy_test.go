package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/deploy"
)

// starter builds the starter policy from its text.
func starter(t *testing.T, text []byte) *policy.Policy {
	t.Helper()
	c, err := config.Parse(text, ".")
	if err != nil {
		t.Fatal(err)
	}
	p, err := daemon.Policy(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var starterLines = map[string][]string{
	"allow": {
		"ls", "ls -la src", "pwd", "cat a.go", "cat src/a.go | head -20", "tail -n 5 a.log", "wc -l a.go", "git status", "git status --short", "git diff", "git diff HEAD -- a.go", "git diff --stat main..dev", "git log --oneline -20", "git log --since='2 days ago' --format='%h %s'", "git show 'HEAD^'", "git blame -L10,20 a.go",
		"git branch", "git branch -vv", "git grep -n foo", "grep -rn 'a b' src | head", "rg -n foo src", "rg --files", "find . -name '*.go' -type f", "find src -mtime -1", "sort -u a", "sort -k2,2n -t, a", "sed -n 1,20p a.go", "uniq -c", "cut -d: -f1 a", "diff -u a b", "file a", "cd /repo && git status && git log -3", "echo done", "date +%s", "ls 2>/dev/null || true",
	},
	"ask": {
		"git diff --output=f", "git diff --outp=f", "git diff --output f", "git -c core.pager=x log", "git -C x status", "git diff --ext-diff", "git log --textconv", "git diff --no-index /etc/passwd a", "git log -Of", "git branch -D x", "git branch new", "git tag v1", "git remote add x y", "git grep -Ox foo", "git grep --open-files-in-pager=x foo", "git push", "git commit -m x", "git stash", "git rev-parse --parseopt", "git shortlog --output=f", "git show --output=f",
		"sort -o f a", "sort -uo f a", "sort -do f a", "sort -of a", "sort --output=f a", "sort --outp=f a", "sort a -o f", "sort -T /tmp a", "sort --compress-program=x a", "sort -S1 a", "rg --pre x foo", "rg --pre=x foo", "rg --hostname-bin=x foo", "rg -z foo", "rg -nz foo", "sed -n 's/a/b/e' f", "sed -n 'w f' a", "sed -i s/a/b/ f", "sed -n 1,5p -i f", "sed -n -e 1p -e 'w f'", "find . -exec rm '{}' +", "find . -delete", "find . -fprint f", "find . -ok rm", "find . -execdir x", "find . -name a -fls f", "find -files0-from x",
		"cd vendor/lib && git status", "cd /repo/vendor/lib && git log", "cd /repo && git -C x status", "cargo --version", "rustc --version", "go version", "go list -m all", "npm ls --depth=0", "docker ps -a", "kubectl get pods -n dev -o wide", "grep -R x .", "grep -nR x .", "grep --dereference-recursive x .", "grep -f x y", "rg -L x", "rg --follow x",
		"uniq a b", "file -C -m x", "file -m x a", "go test ./...", "go test -exec x ./...", "go build -toolexec x", "go vet -vettool=x ./...", "go env -w GOFLAGS=x", "go list -toolexec=x", "go list -exec x", "npm test", "npm install", "npm run build", "make", "docker run x", "docker ps --context=x", "kubectl get secrets", "kubectl get pods --kubeconfig=f", "kubectl get pods --server=x", "kubectl delete pod x", "kubectl exec x", "cat /etc/passwd", "cat ../x", "ls /root", "ls ..", "cat .env", "cat src/.env.local", "grep KEY .env", "git show HEAD:.env", "cat a/../../x", "cat .ssh/id_rsa", "head -1 /proc/self/environ",
		"date -s x", "echo x > f", "echo $HOME", "ls *.go", "env", "printenv", "xargs ls", "sudo ls", "curl x", "column -t f", "diff -l a b", "diff --to-file=x a", "tee f", "tail -f /x", "cd x; ls", "rm -rf src", "rm -rf /tmp/x", "jq -n env", "awk 1 a", "python3 -c x", "node -e x", "ls | sh",
	},
	"deny": {"rm -rf /", "rm -rf /*", "rm -rf ~", "sudo rm -rf /", "ls; rm -rf /", "rm -fr $HOME", "mkfs.ext4 /dev/sda", "dd if=x of=/dev/sda", ":(){ :|:& };:"},
}

// TestStarter checks what the starter policy allows, asks about and denies.
func TestStarter(t *testing.T) {
	t.Parallel()
	p := starter(t, deploy.PolicyStarter)
	for want, lines := range starterLines {
		for _, line := range lines {
			raw, err := json.Marshal(map[string]string{"command": line})
			if err != nil {
				t.Fatal(err)
			}
			if r, steps := p.Explain(bridge.Act{Tool: "Bash", Where: "/repo", Input: raw}); string(r.Effect) != want {
				t.Errorf("%q: %s by %q, want %s\n%+v", line, r.Effect, r.Rule, want, steps[len(steps)-1])
			}
		}
	}
	for _, path := range []string{"/repo/.git/config", "/repo/.git/hooks/pre-commit", "/home/a/.bashrc", "/home/a/.zshenv", "/repo/.envrc", "/repo/.env", "/home/a/.ssh/config", "/repo/.gitattributes", "/home/a/.config/git/config", "/repo/.claude/settings.json"} {
		raw, err := json.Marshal(map[string]string{"file_path": path})
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Judge(bridge.Act{Tool: "Write", Input: raw}); r.Effect != bridge.EffectAsk || r.Rule != "settings and secrets" {
			t.Errorf("%s: %s by %q", path, r.Effect, r.Rule)
		}
	}
	// The commented-out rules work once they are enabled.
	text := strings.NewReplacer("\n  # - name: ", "\n  - name: ", "\n  #   ", "\n    ").Replace(string(deploy.PolicyStarter))
	p = starter(t, []byte(text))
	for line, want := range map[string]string{"go version": "allow", "docker ps -a": "allow", "kubectl get pods -n dev -o wide": "allow", "kubectl get pods --server=x": "ask", "go list -toolexec=x": "ask", "go test -run TestX ./... 2>&1 | tail -5": "allow", "npm test": "allow", "make build": "allow", "go test -exec x ./...": "ask", "go build -toolexec=x": "ask", "go vet -vettool=x": "ask", "make SHELL=x": "ask", "make -f x": "ask", "cargo build --config x": "ask", "pytest -p x": "ask", "go test --exec=x": "ask", "go build -o f": "ask", "go test -coverprofile=f": "ask"} {
		raw, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Judge(bridge.Act{Tool: "Bash", Input: raw}); string(r.Effect) != want {
			t.Errorf("%q: %s by %q, want %s", line, r.Effect, r.Rule, want)
		}
	}
}

// TestPolicyCommand checks the output of nod policy test.
func TestPolicyCommand(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := Run([]string{"policy", "starter"}, nil, &out, &errs); code != 0 || out.String() != string(deploy.PolicyStarter) {
		t.Errorf("exit %d, %s", code, errs.String())
	}
	out.Reset()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(path, deploy.PolicyStarter, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"policy", "test", "--config", path, "--command"}
	for line, want := range map[string]string{
		"ls; git push":    "plain line: ls\n",
		"ls > f":          "not a plain line: ls > f\n",
		"sudo rm -rf /":   "started by another command: rm -rf /\n",
		"ls > f; mkfs.x ": "no rule matches; effect: ask",
	} {
		out.Reset()
		if code := Run(append(args, line), nil, &out, &errs); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%q: exit %d, %s\n%s", line, code, out.String(), errs.String())
		}
	}
}
