package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/console"
	"github.com/nodbridge/nod/bridge/policy"
)

// TestGovernance checks the pages of the policy and of the people.
func TestGovernance(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn("ana")
	const try = `{"tool":"Bash","command":"rm -rf /"}`
	if _, text := b.call(http.MethodGet, "/console/policy", nil); text != `{"rules":[],"risks":[]}`+"\n" {
		t.Errorf("without rules: %s", text)
	}
	if _, text := b.call(http.MethodPost, "/console/policy", try); !strings.Contains(text, `"effect":"ask"`) {
		t.Errorf("without rules: %s", text)
	}
	rules, errs := policy.New([]policy.Rule{{Name: "never", Command: []string{"rm *"}, Then: bridge.EffectDeny}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	o.options.Policy = rules
	o.options.Members = []console.Member{{Name: "ana", Platforms: []string{"chat"}, SignsIn: true}, {Name: "dee", Platforms: []string{}}}
	o.options.Groups = []console.Group{{Name: "ops", People: []string{"ana"}, Native: []string{}}}
	o.reload()
	if _, text := b.call(http.MethodGet, "/console/policy", nil); !strings.Contains(text, `"name":"never"`) {
		t.Errorf("the rules are %s", text)
	}
	if _, text := b.call(http.MethodPost, "/console/policy", try); !strings.Contains(text, `"effect":"deny"`) || !strings.Contains(text, `"matched":true`) {
		t.Errorf("the ruling is %s", text)
	}
	for _, bad := range []string{`{"command":"ls","input":"{}"}`, `{"input":"{"}`, `{"x":1}`} {
		if status, text := b.call(http.MethodPost, "/console/policy", bad); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, status, text)
		}
	}
	_, text := b.call(http.MethodGet, "/console/people", nil)
	for _, want := range []string{`"name":"ana","platforms":["chat"],"signs_in":true,"auditor":false,"groups":["ops"],"routes":["default"]`, `"name":"dee"`, `"now":[]`} {
		if !strings.Contains(text, want) {
			t.Errorf("the people are %s, without %s", text, want)
		}
	}
	for _, path := range []string{"/console/people", "/console/policy"} {
		if status, _ := o.browser().call(http.MethodGet, path, nil); status != http.StatusUnauthorized {
			t.Errorf("%s without a session: %d", path, status)
		}
	}
}
