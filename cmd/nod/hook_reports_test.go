package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestReportsCloseCards checks that a report about a call closes its card whatever
// the tool returned, through the command and over HTTP.
func TestReportsCloseCards(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	for name, result := range map[string]string{
		"long":    `"` + strings.Repeat("x", 2<<20) + `"`,
		"not-utf": "\"\xff\"",
		"cut-off": `{"stdout":"`,
	} {
		report := func(session string) string {
			return strings.Replace(fmt.Sprintf(hookDone, session), `"tool_response":{}`, `"tool_response":`+result, 1)
		}
		t.Run(name, func(t *testing.T) {
			sub := *r
			sub.T = t
			startHook(t, url, "claude", fmt.Sprintf(hookPermission, name))
			a := sub.Card(name)
			if got := startHook(t, url, "claude", report(name)).exit(t, 0); got != "{}\n" {
				t.Errorf("the report is answered with %s", got)
			}
			a.Closed("Approved in the terminal")
		})
		t.Run(name+" over HTTP", func(t *testing.T) {
			sub := *r
			sub.T = t
			session := name + "-http"
			startHook(t, url, "claude", fmt.Sprintf(hookPermission, session))
			a := sub.Card(session)
			if got, err := postHook(r.Ctx, url, report(session)); err != nil || strings.TrimSpace(got) != "" && strings.TrimSpace(got) != "{}" {
				t.Errorf("the report is answered with %s, %v", got, err)
			}
			a.Closed("Approved in the terminal")
		})
	}
}
