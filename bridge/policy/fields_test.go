package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

func build(t testing.TB, rules []Rule, risks ...Risk) *Policy {
	t.Helper()
	p, errs := New(rules, risks)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return p
}

func fieldRules(t testing.TB) *Policy {
	return build(t, []Rule{
		{Name: "never", Command: []string{"rm -rf *"}, Then: bridge.EffectDeny},
		{Name: "secrets", Path: []string{"/etc/*", "*/.env", "*/.ssh/*"}, Then: bridge.EffectDeny},
		{Name: "look", Command: []string{"ls *", "uptime *", "git status *"}, Then: bridge.EffectAllow},
		{Name: "literal", Command: []string{"sudo systemctl status nginx", "ls ../shared", "/opt/x/uptime"}, Then: bridge.EffectAllow},
		{Name: "edit", Command: []string{"view"}, Path: []string{"/repo/*"}, Then: bridge.EffectAllow},
		{Name: "write", Tools: []string{"Write", "move"}, Path: []string{"/repo/src/*"}, Then: bridge.EffectAllow},
		{Name: "stage", Input: map[string]string{"env.name": "staging", "count": "/[0-9]/"}, Then: bridge.EffectAllow},
		{Name: "deploy", Tools: []string{"deploy"}, Input: map[string]string{"zone": "eu"}, Then: bridge.EffectAllow},
		{Name: "database", Input: map[string]string{"user.db.name": "prod*"}, Then: bridge.EffectDeny},
		{Name: "clock", Tools: []string{"clock", "Read"}, Then: bridge.EffectAllow},
		{Name: "here", Command: []string{"make *"}, Where: []string{"/repo"}, Then: bridge.EffectAllow},
	})
}

// TestFields checks that every field of an input that holds a command or a path
// is evaluated, and that people are asked about fields that nod does not
// understand.
func TestFields(t *testing.T) {
	t.Parallel()
	p := fieldRules(t)
	for _, c := range []struct{ tool, where, input, want string }{
		// Commands, in every field.
		{"Bash", "", `{"command":"ls","description":"look","timeout":5000}`, "allow"},
		{"Bash", "", `{"command":"ls","cmd":"rm -rf /"}`, "deny"}, {"Bash", "", `{"cmd":"ls","script":"rm -rf /"}`, "deny"}, {"Bash", "", `{"argv":["ls"],"command":"make"}`, "ask"}, {"Bash", "", `{"command":"ls","Command":"ls"}`, "ask"},
		{"Bash", "", `{"command":"ls","nested":{"command":"rm -rf /"}}`, "deny"}, {"Bash", "", `{"COMMAND":"rm -rf /"}`, "deny"}, {"Bash", "", `{"shellCommand":"rm -rf /"}`, "deny"}, {"Bash", "", `{"list":[{"cmd":"rm -rf /"}]}`, "deny"}, {"clock", "", `{"list":[{"cmd":"x"}]}`, "ask"},
		{"Bash", "", `{"command":{"x":"ls"}}`, "ask"}, {"Bash", "", `{"command":7}`, "ask"}, {"Bash", "", `{"command":null}`, "ask"}, {"Bash", "", `{"command":[]}`, "ask"}, {"Bash", "", `{"command":["ls",7]}`, "ask"}, {"Bash", "", `{"command":true,"cmd":"ls"}`, "ask"}, {"Bash", "", `{"command":{"command":"rm -rf /"}}`, "deny"},
		{"Bash", "", `{"command":["ls","-la"]}`, "allow"}, {"Bash", "", `{"command":["ls","x; rm -rf /"]}`, "deny"}, {"Bash", "", `{"command":["ls","$(x)"]}`, "ask"}, {"Bash", "", `{"command":["ls","a\nb"]}`, "ask"}, {"Bash", "", `{"commands":["ls","rm -rf /"]}`, "deny"}, {"Bash", "", `{"commands":["ls","git status"]}`, "allow"},
		{"Bash", "", `{"command":"ls","args":["-la"]}`, "allow"}, {"Bash", "", `{"command":"rm","args":["-rf","/"]}`, "deny"}, {"Bash", "", `{"command":"ls","args":["; make"]}`, "ask"}, {"Bash", "", `{"command":"ls","args":{"x":1}}`, "ask"}, {"Bash", "", `{"command":"git","args":["push"]}`, "ask"}, {"Bash", "", `{"command":"ls","args":"-la"}`, "ask"}, {"Bash", "", `{"command":"ls -a","args":["-l"]}`, "ask"},
		// Fields that change the effect of a command.
		{"Bash", "", `{"command":"ls","env":{"PATH":"/tmp"}}`, "ask"}, {"Bash", "", `{"command":"ls","stdin":"x"}`, "ask"}, {"Bash", "", `{"command":"ls","run_in_background":true}`, "ask"}, {"Bash", "", `{"command":"ls","run_in_background":false}`, "allow"}, {"Bash", "", `{"command":"ls","user":"root"}`, "ask"}, {"Bash", "", `{"command":"ls","host":"prod"}`, "ask"},
		{"Bash", "", `{"command":"ls","timeout":"5"}`, "ask"}, {"Bash", "", `{"command":"ls","description":{"x":1}}`, "ask"}, {"Bash", "", `{"command":"ls","shell":"powershell"}`, "ask"}, {"Bash", "", `{"command":"ls","shell":"/bin/zsh"}`, "allow"}, {"Bash", "", `{"command":"ls","shell":"/tmp/zsh"}`, "ask"}, {"Bash", "", `{"command":"ls","shell":true}`, "ask"}, {"Bash", "", `{"command":"ls","dangerouslyDisableSandbox":true}`, "ask"},
		{"Bash", "", `{"command":"ls","x":null}`, "ask"}, {"Bash", "", `{"command":"ls","x":{}}`, "ask"}, {"Bash", "", `{"command":"ls","x":[]}`, "ask"}, {"PowerShell", "", `{"command":"ls"}`, "ask"}, {"cmd", "", `{"command":"ls"}`, "ask"}, {"mcp__pwsh__run", "", `{"command":"ls"}`, "ask"}, {"Bash", "", `{"command":"ls","ſhell":"x"}`, "ask"},
		{"Bash", "/repo", `{"command":"ls","cwd":"/repo"}`, "allow"}, {"Bash", "/repo", `{"command":"ls","cwd":"/etc"}`, "deny"}, {"Bash", "/repo", `{"command":"ls","cwd":"/srv"}`, "ask"}, {"Bash", "", `{"command":"ls","cwd":"/repo"}`, "ask"}, {"Bash", "/repo", `{"command":"ls","cwd":"/repo/../srv"}`, "ask"}, {"Bash", "/repo", `{"command":"ls","path":"/repo/x"}`, "ask"},
		{"Edit", "/repo", `{"command":"view","path":"/repo/x"}`, "allow"}, {"Edit", "/repo", `{"command":"view","path":"/srv/x"}`, "ask"}, {"Edit", "/repo", `{"command":"rm","path":"/repo/x"}`, "ask"},
		{"Bash", "", `"rm -rf /"`, "deny"}, {"Bash", "", `["rm","-rf","/"]`, "deny"}, {"clock", "", `"ls"`, "ask"}, {"Bash", "", `{"command":"ls"`, "ask"}, {"Bash", "", `{"command":"ls","command":"ls"}`, "ask"}, {"Bash", "", `{"command":"ls","command":"rm -rf /"}`, "deny"},
		// Programs.
		{"run", "/repo", `{"program":"/usr/bin/uptime","argv":["uptime","-p"],"directory":"/repo","host":"h","user":"u"}`, "allow"}, {"run", "", `{"program":"/evil/uptime","argv":["uptime"]}`, "ask"}, {"run", "", `{"program":"/usr/bin/../../evil/uptime","argv":["uptime"]}`, "ask"}, {"run", "", `{"program":"uptime","argv":["uptime"]}`, "ask"},
		{"run", "", `{"program":"/usr/bin/busybox","argv":["uptime"]}`, "ask"}, {"run", "", `{"program":"/usr/bin/uptime","argv":["ls"]}`, "ask"}, {"run", "", `{"program":"/opt/x/uptime","argv":["uptime"]}`, "allow"}, {"run", "", `{"program":"/opt/x/uptime","argv":["uptime","-p"]}`, "ask"}, {"run", "", `{"program":"/bin/rm","argv":["rm","-rf","/"]}`, "deny"}, {"run", "", `{"program":"/bin/true","argv":["rm","-rf","/"]}`, "deny"},
		{"run", "", `{"program":"/usr/bin/uptime","argv":["uptime"],"command":"make"}`, "ask"}, {"run", "", `{"program":"/usr/bin/uptime","argv":"uptime"}`, "ask"}, {"run", "", `{"program":"/usr/bin/uptime","argv":["uptime"],"stdin":"a pipe"}`, "ask"}, {"run", "", `{"program":"/usr/bin/ls","argv":["ls","it's (x) $y"]}`, "allow"}, {"run", "", `{"program":"/usr/bin/ls","argv":["ls","é"]}`, "ask"}, {"run", "", `{"program":"/usr/bin/ls","argv":["ls","../x"]}`, "ask"}, {"run", "", `{"program":"/usr/bin/uptime","argv":["uptime"],"args":["x"]}`, "ask"}, {"run", "", `{"program":"/usr/bin/uptime","executable":"/evil","argv":["uptime"]}`, "ask"}, {"ssh", "", `{"program":"/usr/bin/uptime","argv":["uptime"],"host":"h"}`, "ask"},
		// Words that a rule spells out.
		{"Bash", "", `{"command":"sudo systemctl status nginx"}`, "allow"}, {"Bash", "", `{"command":"sudo systemctl status x"}`, "ask"}, {"Bash", "", `{"command":"ls ../shared"}`, "allow"}, {"Bash", "", `{"command":"ls ../other"}`, "ask"}, {"Bash", "", `{"command":"sudo rm -rf /"}`, "deny"}, {"Bash", "", `{"command":"sudo $X; sudo rm -rf /"}`, "deny"},
		// Locations after cd.
		{"Bash", "/repo", `{"command":"make x"}`, "allow"}, {"Bash", "/srv", `{"command":"make x"}`, "ask"}, {"Bash", "/repo/../srv", `{"command":"make x"}`, "ask"}, {"Bash", "", `{"command":"make x"}`, "ask"},
		// Paths, in every field.
		{"Write", "/repo", `{"file_path":"src/a.go","content":"x"}`, "allow"}, {"Write", "", `{"file_path":"/repo/src/a.go"}`, "allow"}, {"Write", "/repo", `{"filePath":"src/a.go"}`, "allow"}, {"Write", "", `{"file_path":"src/a.go"}`, "ask"}, {"Write", "repo", `{"file_path":"src/a.go"}`, "ask"}, {"Write", "/x/../repo", `{"file_path":"src/a.go"}`, "ask"},
		{"Write", "/repo", `{"file_path":"src/a.go","path":"/etc/passwd"}`, "deny"}, {"Write", "/repo", `{"file_path":"src/a.go","target":"/srv/x"}`, "ask"}, {"Write", "/repo", `{"file_path":"src/a.go","unknown":"/srv/x"}`, "ask"}, {"Write", "/repo", `{"file_path":"src/a.go","PATH":"/etc/passwd"}`, "deny"}, {"Write", "/repo", `{"file_path":"src/a.go","files":["/etc/passwd"]}`, "deny"},
		{"Write", "/repo", `{"files":[{"path":"src/a.go","content":"x"}]}`, "ask"}, {"Write", "/repo", `{"edits":[{"path":"/etc/passwd"}],"path":"src/a"}`, "deny"}, {"Write", "/repo", `{"path":"src/a","edits":[{"old_string":"a","new_string":"b"}]}`, "allow"}, {"Write", "/repo", `{"path":"src/a","diffs":[{"path":"src/b","oldText":"a","newText":"b"}]}`, "allow"}, {"Write", "/repo", `{"path":"src/a","diffs":[{"path":"/etc/passwd","newText":"b"}]}`, "deny"}, {"Write", "/repo", `{"file_path":{"x":"/repo/src/a"}}`, "ask"}, {"Write", "/repo", `{"file_path":7}`, "ask"}, {"Write", "/repo", `{"file_path":null}`, "ask"}, {"Write", "/repo", `{"file_path":""}`, "ask"}, {"Write", "/repo", `{"content":"x"}`, "ask"}, {"Write", "/repo", `{"file_path":[]}`, "ask"},
		{"move", "/repo", `{"source":"src/a","destination":"src/b"}`, "allow"}, {"move", "/repo", `{"source":"src/a","destination":"/etc/b"}`, "deny"}, {"move", "/repo", `{"old_path":"src/a","new_path":"/srv/b"}`, "ask"}, {"move", "/repo", `{"from":"src/a","to":"../b"}`, "ask"}, {"move", "/repo", `{"path":"src/a","outputFile":"/srv/b"}`, "ask"}, {"move", "/repo", `{"path":"src/a","log_dir":"/srv"}`, "ask"},
		{"Write", "/repo", `{"path":"src/a","command":"ls"}`, "ask"}, {"Bash", "/repo", `{"path":"src/a","command":"ls"}`, "ask"},
		// Spellings of paths.
		{"Read", "/repo", `{"file_path":"file:///etc/passwd"}`, "deny"}, {"Read", "/repo", `{"uri":"FILE://localhost/etc/passwd"}`, "deny"}, {"Read", "/repo", `{"file_path":"~/.ssh/id"}`, "deny"}, {"Read", "/repo", `{"file_path":"~/x"}`, "ask"}, {"Read", "/repo", `{"file_path":"C:\\x"}`, "ask"}, {"Read", "/repo", `{"file_path":"C:/x"}`, "ask"}, {"Read", "/repo", `{"file_path":"..\\..\\etc\\passwd"}`, "deny"}, {"Read", "/repo", `{"file_path":"%2e%2e/etc/passwd"}`, "deny"}, {"Read", "/repo", `{"file_path":"/repo/%2e%2e/etc/passwd"}`, "deny"},
		{"Read", "/repo", `{"file_path":"/etc/passwd\u0000.txt"}`, "deny"}, {"Read", "/repo", `{"file_path":"/ETC/passwd"}`, "deny"}, {"Read", "/repo", `{"file_path":".env"}`, "deny"}, {"Read", "", `{"file_path":".env"}`, "deny"}, {"Read", "/repo", `{"file_path":".env."}`, "deny"}, {"Read", "/repo", `{"file_path":".env "}`, "deny"}, {"Read", "/repo", `{"file_path":"//etc/passwd"}`, "deny"}, {"Read", "/repo", `{"file_path":"/etc//passwd"}`, "deny"},
		{"Read", "/repo", `{"file_path":"src/a.go"}`, "allow"}, {"Read", "/repo", `{"file_path":"src//a.go"}`, "ask"}, {"Read", "/repo", `{"file_path":"./src/a.go"}`, "ask"}, {"Read", "/repo", `{"file_path":"src/a.go/"}`, "ask"}, {"Read", "/repo", `{"file_path":"src/a\n"}`, "ask"}, {"Read", "/repo", `{"file_path":"$HOME/x"}`, "ask"}, {"Read", "/repo", `{"file_path":"src/*"}`, "ask"}, {"Read", "/repo", `{"file_path":"{a,../b}"}`, "ask"}, {"Read", "/repo", `{"file_path":"../x"}`, "ask"}, {"Read", "/repo", `{"file_path":".."}`, "ask"}, {"Read", "/repo", `{"file_path":"."}`, "allow"}, {"Read", "/repo", `{"file_path":"src/é"}`, "ask"}, {"Read", "/repo", `{"file_path":" /etc/passwd"}`, "deny"},
		{"clock", "", `{"uri":"https://example.com/a"}`, "allow"}, {"Write", "/repo", `{"path":"src/a","url":"https://example.com"}`, "ask"}, {"clock", "", `{"source":"en","target":"de"}`, "allow"}, {"clock", "", `{"zone":"UTC"}`, "allow"}, {"clock", "", ``, "allow"}, {"clock", "", `{}`, "allow"}, {"clock", "", `{"command":"date"}`, "ask"},
		// Other fields.
		{"x", "", `{"env":{"name":"staging"},"count":3}`, "allow"}, {"x", "", `{"env":{"name":"staging"},"count":3,"extra":1}`, "ask"}, {"x", "", `{"env":{"name":"staging","x":1},"count":3}`, "ask"}, {"x", "", `{"env":{"name":"staging"},"count":30}`, "ask"}, {"x", "", `{"env":{"name":"staging","NAME":"prod"},"count":3}`, "ask"}, {"x", "", `{"env":[{"name":"staging"},{"name":"prod"}],"count":3}`, "ask"}, {"x", "", `{"env":{"name":"staging"},"count":3,"path":"/x"}`, "ask"},
		// Names with a dot.
		{"deploy", "", `{"zone":"eu"}`, "allow"}, {"deploy", "", `{"zone":{"a":"eu"}}`, "ask"}, {"deploy", "", `{"zone":"eu","zone.b":"us"}`, "ask"}, {"deploy", "", `{"zone":"eu","zone.path":"/srv/x"}`, "ask"}, {"deploy", "", `{"zone":"eu","zone.a.b":["us"]}`, "ask"}, {"deploy", "", `{"zone":"eu","time.out":3}`, "ask"}, {"deploy", "", `{"zone":"eu","timeout":3}`, "allow"},
		{"x", "", `{"env":{"name":"staging"},"count":3,"env.name":"prod"}`, "ask"}, {"x", "", `{"env":{"name":"staging"},"count":3,"count.x":3}`, "ask"}, {"x", "", `{"env.name":"staging","count":3}`, "ask"},
		{"Write", "/repo", `{"path":"src/a","edits.content":"b"}`, "ask"}, {"Write", "/repo", `{"path":"src/a","edits":{"content":"b"}}`, "allow"}, {"clock", "", `{"metadata.author":"bo"}`, "allow"},
		{"x", "", `{"user":{"db":{"name":"prod"}}}`, "deny"}, {"x", "", `{"user.db.name":"prod"}`, "deny"}, {"x", "", `{"user.db":{"name":"prod"}}`, "deny"}, {"x", "", `{"user":[{"DB.name":"prod"}]}`, "deny"}, {"x", "", `{"user.db.name":"test"}`, "ask"},
	} {
		if got := p.Judge(bridge.Act{Agent: "ci", Tool: c.tool, Where: c.where, Input: json.RawMessage(c.input)}); string(got.Effect) != c.want {
			t.Errorf("%s in %q %s: %s %s, want %s", c.tool, c.where, c.input, got.Effect, got.Rule, c.want)
		}
	}
}

// TestAfterCD checks that rules with a location apply to the location after a
// cd, and that a grant does not.
func TestAfterCD(t *testing.T) {
	t.Parallel()
	p := build(t, []Rule{
		{Name: "cd", Command: []string{"cd *"}, Then: bridge.EffectAllow},
		{Name: "make", Command: []string{"make *", "./run"}, Where: []string{"/repo"}, Then: bridge.EffectAllow},
		{Name: "push", Command: []string{"git push *"}, Then: bridge.EffectAsk, Grant: "rule"},
	})
	for _, c := range []struct {
		where, line, want string
		grants            int
	}{
		{"/repo", "make", "allow", 0}, {"/srv", "cd /repo && make", "allow", 0}, {"/repo", "cd /srv && make", "ask", 0}, {"/repo", "cd src && make", "ask", 0}, {"/srv", "cd /srv/../repo && make", "ask", 0}, {"/repo", "cd /repo && ./run", "ask", 0}, {"/repo", "./run", "allow", 0},
		{"/repo", "git push", "ask", 1}, {"/repo", "cd /repo && git push", "ask", 1}, {"/repo", "cd /srv && git push", "ask", 0}, {"/repo", "cd src && git push", "ask", 0}, {"", "cd src && git push", "ask", 0},
	} {
		r := p.Judge(act("Bash", c.where, map[string]string{"command": c.line}))
		if string(r.Effect) != c.want || len(r.Grants) != c.grants {
			t.Errorf("%q in %q: %s, %d grants; want %s, %d", c.line, c.where, r.Effect, len(r.Grants), c.want, c.grants)
		}
	}
}

// TestOptions checks that a rule with options covers only those options, even
// if a wildcard matches others.
func TestOptions(t *testing.T) {
	t.Parallel()
	p := build(t, []Rule{
		{Name: "sort", Command: []string{"sort *"}, Options: []string{"-r", "-k*", "--key=?"}, Then: bridge.EffectAllow},
		{Name: "none", Command: []string{"cat *", "git branch --list *"}, Options: []string{}, Then: bridge.EffectAllow},
		{Name: "tail", Command: []string{"/tail( [^ ]+)*/"}, Options: []string{"/-[0-9]+/"}, Then: bridge.EffectAllow},
		{Name: "push", Command: []string{"git push *"}, Options: []string{"-u"}, Then: bridge.EffectAsk, Grant: "rule"},
	})
	for line, want := range map[string]string{
		"sort a": "allow", "sort -r a": "allow", "sort -k2 a": "allow", "sort --key=2": "allow", "sort -o f": "ask", "sort -ro f": "ask", "sort --key=22": "ask", "sort --outp=f": "ask", "sort a -o f": "ask", "sort -- -o": "ask", "sort '-o' f": "ask",
		"cat a": "allow", "cat -n a": "ask", "cat -": "ask", "git branch --list x": "allow", "git branch --list -D x": "ask", "tail -20 f": "allow", "tail -f x": "ask", "tail 'a b'": "ask",
	} {
		if r := p.Judge(act("Bash", "", map[string]string{"command": line})); string(r.Effect) != want {
			t.Errorf("%q: %s, want %s", line, r.Effect, want)
		}
	}
	for line, want := range map[string]int{"git push -u origin x": 1, "git push": 1, "git push --force": 0, "git 'push x'": 0, "git push $X": 0, "git push > f": 0, "/usr/bin/git push": 0, "GIT push": 0, "git push; make": 0, "git push && cat a": 1, "git push && git push -f": 0} {
		r := p.Judge(act("Bash", "/repo", map[string]string{"command": line}))
		if r.Effect != bridge.EffectAsk || len(r.Grants) != want || !strings.Contains(r.Rule, "push") {
			t.Errorf("%q: %s by %q, %d grants, want %d", line, r.Effect, r.Rule, len(r.Grants), want)
		}
	}
}

// TestJoin checks that the ruling on a request with several parts is as strict
// as the ruling on each part.
func TestJoin(t *testing.T) {
	t.Parallel()
	ask := func(name, command string, r Rule) Rule {
		r.Name, r.Command, r.Then, r.Grant = name, []string{command}, bridge.EffectAsk, "rule"
		return r
	}
	p := build(t, []Rule{
		{Name: "never", Command: []string{"rm *"}, Then: bridge.EffectDeny, Reason: "no"},
		ask("prod", "kubectl *", Rule{Route: "production", Risk: "critical", Timeout: 5, OnTimeout: bridge.OnTimeoutEscalate, Scopes: []bridge.Scope{"once", "session"}, Redact: []string{"a"}, GrantFor: 9}),
		ask("push", "git push *", Rule{Route: "dev", Quorum: 3, Confirm: "push", Timeout: 9, OnTimeout: bridge.OnTimeoutDeny, Scopes: []bridge.Scope{"always", "session"}, Redact: []string{"b"}, GrantFor: 4, Reason: "why"}),
		ask("make", "make *", Rule{Scopes: []bridge.Scope{"always"}}),
		{Name: "look", Command: []string{"ls *"}, Then: bridge.EffectAllow},
	}, Risk{Name: "high"}, Risk{Name: "critical", Quorum: 2, Confirm: "yes"})
	judge := func(s string) bridge.Ruling { return p.Judge(act("Bash", "", map[string]string{"command": s})) }

	r := judge("git push && kubectl delete x; ls")
	if r.Effect != bridge.EffectAsk || !slices.Equal(r.Routes, []string{"dev", "production"}) || r.Risk != "critical" || r.Quorum != 3 || r.Confirm != "push yes" || r.Timeout != bridge.Duration(5*time.Nanosecond) || r.OnTimeout != bridge.OnTimeoutDeny ||
		!slices.Equal(r.Scopes, []bridge.Scope{"once", "session"}) || !slices.Equal(r.Redact, []string{"b", "a"}) || r.GrantFor != 4 || r.Rule != "push, prod" || r.Reason != "why" || len(r.Grants) != 2 {
		t.Errorf("three commands evaluate to %+v, want the strictest of each setting", r)
	}
	if r := judge("make; kubectl delete x"); !slices.Equal(r.Routes, []string{"", "production"}) || len(r.Grants) != 2 || !slices.Equal(r.Scopes, []bridge.Scope{"once"}) {
		t.Errorf("two commands evaluate to %+v, want both routes and grants", r)
	}
	if r := judge("make clean; ls"); r.Routes != nil || len(r.Grants) != 1 || r.Grants[0].Covers != "`make *`" {
		t.Errorf("an allowed command with another one evaluates to %+v, want one grant", r)
	}
	if r := judge("other; kubectl delete x"); !slices.Equal(r.Routes, []string{"", "production"}) || r.Grants != nil || r.Rule != "prod" {
		t.Errorf("an unknown command with another one evaluates to %+v, want both routes and no grants", r)
	}
	if r := judge("git push; rm x"); r.Effect != bridge.EffectDeny || r.Rule != "never" || r.Reason != "no" || r.Routes != nil || r.Confirm != "" {
		t.Errorf("a denied command evaluates to %+v, want a denial by never", r)
	}
	if r := judge("sudo kubectl delete $X > f"); !slices.Equal(r.Routes, []string{"production"}) || r.Quorum != 2 || r.Grants != nil {
		t.Errorf("a command in an unplain line evaluates to %+v, want two approvers on production", r)
	}
	if a, b := judge("make").Grants[0].Key, build(t, []Rule{ask("make", "make *", Rule{Scopes: []bridge.Scope{"session"}})}).Judge(act("Bash", "", map[string]string{"command": "make"})).Grants[0].Key; a == b || len(a) != 64 {
		t.Errorf("an edited rule has the key of the old one: %s, %s", a, b)
	}
}

// TestRefusedRules checks that rules that would allow any command are rejected.
func TestRefusedRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{Command: []string{"*"}}, "would match any program"}, {Rule{Command: []string{"*ls x"}}, "would match any program"}, {Rule{Command: []string{"?s"}}, "would match any program"}, {Rule{Command: []string{"* *"}}, "would match any program"},
		{Rule{Command: []string{"/.*/"}}, "would match any program"}, {Rule{Command: []string{"/(sudo )?.+ x/"}}, "would match any program"}, {Rule{Command: []string{"/[^;]+/"}}, "would match any program"}, {Rule{Command: []string{"/(ls|.*)/"}}, "would match any program"}, {Rule{Command: []string{"/a)|(.*/"}}, "unexpected )"}, {Rule{Command: []string{`/\w+ --version/`}}, "would match any program"},
		{Rule{}, "allow requires"}, {Rule{Command: []string{"ls 'x"}}, "quote is not closed"}, {Rule{Tools: []string{"x"}, Options: []string{"-x"}}, "options: requires command"}, {Rule{Command: []string{" "}}, "empty pattern"}, {Rule{Command: []string{"ls *"}, Options: []string{"-a b"}}, "not a single word"},
		{Rule{Command: []string{"/(git|go) (status|vet)( .*)?/"}}, ""}, {Rule{Command: []string{"git* x", "./x/*", "/opt/x y"}}, ""}, {Rule{Command: []string{"/(sudo )?ls/"}}, ""},
	} {
		c.rule.Then = bridge.EffectAllow
		_, errs := New([]Rule{c.rule}, nil)
		text := ""
		for _, err := range errs {
			text += err.Error()
		}
		if c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%+v: %q, want %q", c.rule, text, c.want)
		}
	}
	if _, errs := New([]Rule{{Command: []string{"*rm*"}, Then: bridge.EffectDeny}, {Command: []string{"* --force"}, Then: bridge.EffectAsk}}, nil); len(errs) > 0 {
		t.Error(errs)
	}
	if _, errs := New([]Rule{{Command: []string{"* --force"}, Then: bridge.EffectAsk, Grant: "rule"}}, nil); len(errs) != 1 {
		t.Error(errs)
	}
}

// FuzzFields checks that an input is never allowed if it contains a command or
// path that a deny rule matches, whatever else it contains.
func FuzzFields(f *testing.F) {
	p := fieldRules(f)
	for _, s := range []string{`{"command":"ls"}`, `{"file_path":"/repo/src/a","content":"x"}`, `{"program":"/usr/bin/uptime","argv":["uptime"]}`, `{"env":{"name":"staging"},"count":3}`, `{"args":["a"],"cmd":["ls"]}`, `{"a":[{"b":{}}]}`} {
		f.Add(s, "Bash", "/repo")
	}
	f.Fuzz(func(t *testing.T, input, tool, where string) {
		alone := p.Judge(bridge.Act{Tool: tool, Where: where, Input: json.RawMessage(input)})
		if err := bridge.CheckJSON([]byte(input)); err != nil && input != "" && alone.Effect == bridge.EffectAllow {
			t.Fatalf("%q is allowed although it is ambiguous", input)
		}
		var fields map[string]any
		if json.Unmarshal([]byte(input), &fields) != nil || fields == nil {
			return
		}
		for _, more := range []map[string]any{{"zz": map[string]any{"script": "rm -rf /"}}, {"zz": []any{map[string]any{"new_path": "/etc/x"}}}} {
			for name, v := range fields {
				if name != "zz" {
					more[name] = v
				}
			}
			if r := p.Judge(act(tool, where, more)); r.Effect != bridge.EffectDeny {
				t.Fatalf("%v in %q: %s", more, tool, r.Effect)
			}
		}
	})
}

// TestStarted checks that a command after sudo is subject to the rules for that
// command and to rules for all commands.
func TestStarted(t *testing.T) {
	t.Parallel()
	p := build(t, []Rule{
		{Name: "build", Command: []string{"sudo rm -rf build"}, Then: bridge.EffectAllow},
		{Name: "log", Command: []string{"git log *"}, Then: bridge.EffectAllow},
		{Name: "git", Command: []string{"git *"}, Then: bridge.EffectAsk, Route: "dev"},
		{Name: "rm", Command: []string{"rm -rf *"}, Then: bridge.EffectDeny},
		{Name: "guests", Agents: []string{"guest"}, Then: bridge.EffectDeny},
	})
	for _, c := range []struct{ agent, line, want string }{
		{"ci", "sudo rm -rf build", "allow build"}, {"ci", "rm -rf build", "deny rm"}, {"ci", "sudo rm -rf x", "deny rm"}, {"ci", "sudo git log", "ask "}, {"ci", "git log", "allow log"}, {"ci", "sudo git push", "ask git"}, {"ci", "sudo git push $X", "ask git"},
		{"guest", "sudo git push $X", "deny guests"}, {"guest", "sudo git push", "deny guests"}, {"guest", "git push $X", "ask git"}, {"guest", "git push", "ask git"}, {"ci", strings.Repeat("a;", 300) + "sudo git push", "ask "}, {"ci", strings.Repeat("sudo git log;", 300) + "x $X", "ask git"},
	} {
		r := p.Judge(bridge.Act{Agent: c.agent, Tool: "Bash", Input: act("", "", map[string]string{"command": c.line}).Input})
		if got := string(r.Effect) + " " + r.Rule; got != c.want && !(len(c.line) > 300 && r.Effect == bridge.EffectAsk) {
			t.Errorf("%s %.60q: %s, want %s", c.agent, c.line, got, c.want)
		}
	}
}
