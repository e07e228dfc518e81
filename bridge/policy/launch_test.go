package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
)

// TestLaunched checks that rules apply to a plain line that a shell runs, and
// to the shell itself.
func TestLaunched(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Name: "never", Command: []string{"rm -rf *"}, Then: bridge.EffectDeny},
		{Name: "whole", Command: []string{"bash -lc 'make all'", "sh -c 'rm x'"}, Then: bridge.EffectAllow},
		{Name: "push", Command: []string{"git push *"}, Then: bridge.EffectAsk, Grant: "rule"},
		{Name: "look", Command: []string{"ls *", "git status *", "cd *"}, Then: bridge.EffectAllow},
		{Name: "here", Command: []string{"make *"}, Where: []string{"/repo"}, Then: bridge.EffectAllow},
		{Name: "rest", Then: bridge.EffectAsk, Route: "dev"},
	}
	p := build(t, rules)
	for line, want := range map[string]string{
		"/bin/bash -lc 'git status'": "allow look", "bash -c 'git status --short && ls'": "allow look", `sh -lc "ls -la"`: "allow look", "/usr/bin/bash -lc ls": "allow look", "/bin/sh -c 'ls | ls'": "allow look",
		"bash -lc 'make all'": "allow whole", "sh -c 'rm x'": "allow whole", "bash -lc 'cd /repo && make x'": "allow look, here", "bash -lc 'cd /srv && make x'": "ask rest",
		"bash -lc 'rm -rf x'": "deny never", "bash -lc 'ls; rm -rf x'": "deny never", "bash -lc 'ls; rm x'": "ask rest", "bash -lc 'ls $X'": "ask rest", "bash -lc 'ls > x'": "ask rest", "bash -lc ''": "ask rest", "bash -lc 'sudo ls'": "ask rest", "bash -lc 'git push x'": "ask push",
		"bash -lic ls": "ask rest", "bash -l -c ls": "ask rest", "bash -lc ls x": "ask rest", "bash ls": "ask rest", "bash -xc ls": "ask rest", "/tmp/bash -lc ls": "ask rest", "./bash -lc ls": "ask rest", "zsh -lc ls": "ask rest", "sudo bash -lc ls": "ask rest", "bash -lc ls; bash -lc ls": "ask rest", "bash -lc \"bash -lc ls\"": "allow look", "bash -lc \"bash -lc 'rm x'\"": "ask rest", "bash -lc -lc": "ask rest", "BASH -lc ls": "ask rest",
	} {
		r := p.Judge(act("Bash", "/repo", map[string]string{"command": line}))
		if got := string(r.Effect) + " " + r.Rule; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if r := p.Judge(act("Bash", "/repo", map[string]string{"command": "bash -lc 'git push x'"})); len(r.Grants) != 1 {
		t.Errorf("a grant by rule does not cover it: %+v", r)
	}
	for _, words := range []string{"git status", "make x", "ls -la"} { // joined by spaces, it would run the first word only
		if r := p.Judge(act("Bash", "/repo", map[string][]string{"command": {"bash", "-lc", words}})); r.Effect != bridge.EffectAsk {
			t.Errorf("a list with %q: %+v", words, r)
		}
	}
	for _, then := range []bridge.Effect{bridge.EffectAsk, bridge.EffectDeny} {
		p := build(t, append([]Rule{{Name: "shells", Command: []string{"bash *", "/bin/bash *"}, Then: then}}, rules...))
		for _, line := range []string{"bash -lc ls", "/bin/bash -c 'git status'"} {
			if r := p.Judge(act("Bash", "", map[string]string{"command": line})); r.Effect != then || r.Rule != "shells" {
				t.Errorf("%s: %+v", line, r)
			}
		}
	}
	if r := p.Judge(act("powershell", "", map[string]string{"command": "bash -lc ls"})); r.Effect != bridge.EffectAsk {
		t.Errorf("a shell in another one evaluates to %+v, want %s", r, bridge.EffectAsk)
	}
	if r := p.Judge(act("run", "", map[string]any{"program": "/evil/bash", "argv": []string{"bash", "-lc", "ls"}})); r.Effect != bridge.EffectAsk {
		t.Errorf("an untrusted shell evaluates to %+v, want %s", r, bridge.EffectAsk)
	}
}

// TestLaunchedHostile checks that a line that is not allowed is not allowed in
// a shell either.
func TestLaunchedHostile(t *testing.T) {
	t.Parallel()
	p := broad(t)
	allowed := func(line string) bool {
		return p.Judge(act("Bash", "/repo", map[string]string{"command": line})).Effect == bridge.EffectAllow
	}
	check := func(t interface {
		Helper()
		Errorf(string, ...any)
	}, line string) {
		t.Helper()
		for _, shell := range []string{"bash -lc ", "/bin/sh -c "} {
			for _, quote := range []string{"'", `"`} {
				if outer := shell + quote + line + quote; allowed(outer) && !allowed(line) {
					t.Errorf("%q is allowed although %q is not", outer, line)
				}
			}
		}
	}
	for _, line := range knownHostile {
		check(t, line)
	}
	words := []string{"ls", "git", "status", "rm", "-rf", "/", " ", " ", " ", "'", `"`, "&&", ";", "|", "$", "(", ")", "\\", "\n", "#", "..", "cd", "=", "*", "~", "!"}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "words"), ""))
	})
}
