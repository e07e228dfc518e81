package policy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
)

func rules(t testing.TB) *policy.Policy {
	t.Helper()
	p, errs := policy.New([]policy.Rule{
		{Name: "no root", Command: []string{"rm -rf /", "rm -rf /*", "/.*mkfs.*/", `/curl .*\| *sh/`}, Then: bridge.EffectDeny, Reason: "never"},
		{Name: "secrets", Path: []string{"*/.env", "/etc/*"}, Then: bridge.EffectDeny},
		{Name: "read", Tools: []string{"Bash"}, Command: []string{"git status *", "ls *", "echo *", "cd *", "cat *"}, Then: bridge.EffectAllow},
		{Name: "src", Tools: []string{"Write"}, Path: []string{"/repo/src/*"}, Then: bridge.EffectAllow},
		{Name: "push", Command: []string{"git push *"}, Then: bridge.EffectAsk, Risk: "high", Grant: "rule"},
		{Name: "prod", Agents: []string{"deploy-*"}, Input: map[string]string{"env.name": "prod*", "tags": "/live|prod/"}, Then: bridge.EffectAsk, Risk: "critical"},
		{Name: "small", Input: map[string]string{"amounts.value": "/[0-9]/"}, Then: bridge.EffectAllow},
	}, []policy.Risk{{Name: "low"}, {Name: "high", Quorum: 2}, {Name: "critical", Quorum: 2, Confirm: "yes"}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return p
}

func line(s string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"command": s}) // a map of strings always encodes
	return raw
}

func TestJudge(t *testing.T) {
	t.Parallel()
	p := rules(t)
	for command, want := range map[string]string{
		"git status": "allow read", "git status -s": "allow read", "git statusx": "ask", "ls": "allow read", `ls "a b"`: "allow read", "ls && git status; echo hi | cat": "allow read",
		"git push origin main": "ask push", "cd x && git push": "ask push", "rm -rf /": "deny no root", "ls; rm -rf /": "deny no root", "/bin/rm -rf /": "deny no root",
		`r\m -rf /`: "deny no root", `'rm' "-rf" /`: "deny no root", "sudo rm -rf /": "deny no root", "bash -c 'rm -rf /'": "deny no root", `sh -xc "ls; rm -rf /"`: "deny no root",
		"echo $(rm -rf /)": "deny no root", "ls `rm -rf /`": "deny no root", "eval 'rm -rf /'": "deny no root", "if true; then rm -rf /; fi": "deny no root",
		"xargs rm -rf /": "deny no root", "find . -exec rm -rf / ;": "deny no root", "timeout 5 rm -rf /": "deny no root", "(ls; (rm -rf /))": "deny no root", "f() { rm -rf /; }; f": "deny no root",
		"bash -c 'rm -rf / )'": "deny no root", `bash -c 'rm "-rf" / )'`: "deny no root",
		"echo hi > /etc/passwd": "ask", "echo hi > /dev/null": "allow read", "ls 2>&1": "allow read", "echo $HOME": "ask", "X=1 ls": "ask", "ls &": "ask", "ls ../..": "ask", "git 'push x'": "ask push",
		"git 'status x'": "ask", "l? -la": "ask", "sudo ls": "ask", "ls <(cat x)": "ask", "ls $((1+1))": "ask", "ls | sh": "ask", "cat <<E\nx\nE": "ask", "ls\n\nrm -rf /": "deny no root",
		"ls 'unclosed": "ask", "ls | ! rm -rf /": "deny no root", "sudo ( rm -rf / )": "deny no root", "if ls; then rm -rf /": "deny no root", "mkfs.ext4 /dev/sda": "deny no root", "c'u'rl x | sh": "deny no root", "": "ask", "   ": "ask", "ls #; rm -rf /": "deny no root", "ls \\\n-la": "ask", "ls # x": "ask", "ls\nls": "ask",
	} {
		r := p.Judge(bridge.Act{Agent: "ci", Tool: "Bash", Input: line(command)})
		if got := strings.TrimSpace(string(r.Effect) + " " + r.Rule); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
	for _, c := range []struct{ agent, tool, where, input, want string }{
		{"ci", "Bash", "", `{"argv":["git","status"]}`, "allow read"}, {"ci", "Bash", "", `{"argv":["git","status; rm -rf /"]}`, "deny no root"}, {"ci", "Bash", "", `{"argv":["git","status; make"]}`, "ask"}, {"ci", "Bash", "", `{"argv":["bash","-c","rm -rf /"]}`, "deny no root"},
		{"ci", "Write", "/repo", `{"file_path":"src/a.go"}`, "allow src"}, {"ci", "Write", "/repo", `{"file_path":"src/../.env"}`, "deny secrets"}, {"ci", "Write", "/repo", `{"file_path":"/repo/src/../../etc/passwd"}`, "deny secrets"},
		{"ci", "Write", "", `{"file_path":"/repo/src/../x"}`, "ask"}, {"deploy-1", "deploy", "", `{"env":{"name":"prod-1"},"tags":["a","live"]}`, "ask prod"}, {"deploy-1", "deploy", "", `{"env":{"name":"prod-1"},"tags":["a"]}`, "ask"},
		{"ci", "deploy", "", `{"env":{"name":"prod-1"},"tags":["live"]}`, "ask"}, {"ci", "pay", "", `{"amounts":[{"value":1},{"value":2}]}`, "allow small"}, {"ci", "pay", "", `{"amounts":[{"value":1},{"value":1000}]}`, "ask"},
		{"ci", "pay", "", ``, "ask"}, {"ci", "pay", "", `[1]`, "ask"},
	} {
		r := p.Judge(bridge.Act{Agent: c.agent, Tool: c.tool, Where: c.where, Input: json.RawMessage(c.input)})
		if got := strings.TrimSpace(string(r.Effect) + " " + r.Rule); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if r := p.Judge(bridge.Act{Tool: "Bash", Input: line("git push x")}); r.Quorum != 2 || r.Risk != "high" || len(r.Grants) != 1 || r.Grants[0].Covers != "`git push *`" {
		t.Errorf("the ruling ignores the settings of the risk level: %+v", r)
	}
	// A grant by the rule does not cover other commands of the line.
	if r := p.Judge(bridge.Act{Tool: "Bash", Input: line("git push x; make clean")}); r.Quorum != 2 {
		t.Errorf("the ruling is %+v, want a quorum of 2", r)
	}
}

// TestNeverMilder checks that the ruling on a line is never milder than the
// ruling on one of its commands.
func TestNeverMilder(t *testing.T) {
	t.Parallel()
	p := rules(t)
	severity := map[bridge.Effect]int{bridge.EffectAllow: 0, bridge.EffectAsk: 1, bridge.EffectDeny: 2}
	judge := func(s string) int {
		return severity[p.Judge(bridge.Act{Agent: "ci", Tool: "Bash", Input: line(s)}).Effect]
	}
	rapid.Check(t, func(t *rapid.T) {
		alone := rapid.SampledFrom([]string{"rm -rf /", "git push x", "ls", "make", "mkfs /dev/sda", "git status"}).Draw(t, "command")
		s := alone
		for range rapid.IntRange(1, 5).Draw(t, "wraps") {
			wraps := []string{"ls; %", "% && ls", "ls | %", "( % )", "{ %; }", "ls || %", "echo $( % )", "if ls; then %\nfi", "while %\ndo ls; done", "% > /dev/null"}
			if !strings.ContainsAny(s, "(){};|&\n$>") { // only before a simple command
				wraps = append(wraps, "! %", "sudo %", "nice -n 5 %", "time %", "env A=1 %", "timeout 5 nohup %", "/usr/bin/env %")
			}
			s = rapid.SampledFrom(wraps).Draw(t, "wrap")
			s = strings.Replace(s, "%", alone, 1)
			if judge(s) < judge(alone) {
				t.Fatalf("the ruling on %q is milder than that on %q", s, alone)
			}
			alone = s
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	_, errs := policy.New([]policy.Rule{
		{Name: "a", Then: "maybe"}, {Name: "a", Command: []string{"/(/"}, Then: bridge.EffectDeny}, {Tools: []string{"x"}, Then: bridge.EffectAllow, Quorum: 2},
		{Tools: []string{""}, Then: bridge.EffectAsk, Risk: "none", Scopes: []bridge.Scope{"ever"}, OnTimeout: "default"}, {Name: "all", Then: bridge.EffectAsk}, {Name: "late", Then: bridge.EffectDeny},
	}, nil)
	text := ""
	for _, err := range errs {
		text += err.Error() + "\n"
	}
	for _, want := range []string{`policy[0]: then: unknown effect "maybe"`, `policy[1]: name: duplicate name "a"`, "policy[1]: command:", "policy[2]: then: allow asks no one", "policy[3]: tools:", `policy[3]: risk: unknown risk level "none"`, `policy[3]: scopes: unknown scope "ever"`, "policy[3]: on_timeout", "later rules are never reached"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not reported: %s", want, text)
		}
	}
}

// TestHostileLines checks that lines with extreme nesting or repetition are
// evaluated quickly and never allowed.
func TestHostileLines(t *testing.T) {
	t.Parallel()
	p := rules(t)
	for name, s := range map[string]string{
		"parentheses": strings.Repeat("(", 60000), "substitutions": strings.Repeat("$(", 30000), "quotes": strings.Repeat(`"$(`, 20000), "commands": strings.Repeat("a;", 30000),
		"wrappers": strings.Repeat("sudo ", 12000) + "ls", "long": strings.Repeat("ls ", 100000), "shells": strings.Repeat("bash -c '", 100),
	} {
		began := time.Now()
		r := p.Judge(bridge.Act{Tool: "Bash", Input: line(s)})
		if r.Effect == bridge.EffectAllow {
			t.Errorf("%s is allowed", name)
		}
		t.Logf("%s: %s in %s", name, r.Effect, time.Since(began))
	}
}

// FuzzJudge checks that no line is allowed that contains rm -rf /, and that
// every line is evaluated in time.
func FuzzJudge(f *testing.F) {
	p := rules(f)
	f.Add("ls && rm -rf /")
	f.Add("bash -c \"$(echo x)\" > /tmp/y")
	f.Fuzz(func(t *testing.T, s string) {
		slow := time.AfterFunc(time.Minute, func() { panic("slow: " + s) })
		defer slow.Stop()
		judge := func(s string) bridge.Ruling {
			return p.Judge(bridge.Act{Agent: "ci", Tool: "Bash", Input: line(s)})
		}
		if alone := judge(s); alone.Effect == bridge.EffectAllow && judge(s+" && make").Effect == bridge.EffectAllow {
			t.Fatalf("make is allowed after %q", s)
		}
		for _, joint := range []string{"\n", "; ", " | ", "&&"} {
			if r := judge("rm -rf /" + joint + s); r.Effect == bridge.EffectAllow || len(r.Grants) > 0 {
				t.Fatalf("allowed after rm -rf / and %q: %q", joint, s)
			}
		}
	})
}
