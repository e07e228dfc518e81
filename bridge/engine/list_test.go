package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestPagesOfLists checks that a long list of requests or grants is complete: in
// pages that the command names, or whole for a platform with pages of its own.
func TestPagesOfLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	var asked []string
	for n := range 40 {
		w.asked(func(r *bridge.Request) {
			r.Session, r.Prompt = fmt.Sprint("s", n), fmt.Sprintf("Question %d? %s", n, strings.Repeat("x", 5*n))
		}, confirm)
		asked = append(asked, fmt.Sprintf("Question %d? ", n))
		r := shell(fmt.Sprintf("make target%d", n))
		r.Session, r.Approval.Scopes, r.Approval.Decisions = "s", []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}, nil
		w.press("ana", w.open(bridge.Agent{Name: "ci"}, r).Interaction.ID, "C1", bridge.DecideSession, "")
	}
	var grants []string
	all, err := w.engine.Grants.List(t.Context(), "")
	if err != nil || len(all.Items) != 40 {
		t.Fatalf("%d grants, %v", len(all.Items), err)
	}
	for _, g := range all.Items {
		grants = append(grants, g.ID())
	}
	for word, want := range map[string][]string{"pending": asked, "mine": asked, "grants": grants} {
		var got []string
		text := word
		for pages := 1; ; pages++ {
			said := w.say("ana", text)
			if len(said) > 3500 {
				t.Errorf("%s: a reply of %d bytes", text, len(said))
			}
			for _, line := range strings.Split(said, "\n")[1:] {
				if id, _, ok := strings.Cut(line, "  "); ok {
					got = append(got, id)
				}
				if n := slices.IndexFunc(asked, func(s string) bool { return strings.Contains(line, s) }); n >= 0 {
					got = append(got, asked[n])
				}
			}
			_, next, more := strings.Cut(said, "Next: /nod ")
			if !more {
				if pages < 3 || !strings.Contains(said, fmt.Sprintf("Page %d of %d.", pages, pages)) && !strings.Contains(said, " to 40 of 40.") {
					t.Errorf("%s: %d pages; the last says %q", word, pages, said[max(0, len(said)-60):])
				}
				break
			}
			text = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %d, wants %d in their order", word, len(got), len(want))
		}
		c := bridge.Command{Actor: bridge.Actor{Platform: "chat", User: "U-ana"}, Channels: []string{"C1"}, Text: word, Whole: true}
		said, err := w.engine.Command(t.Context(), c)
		if err != nil || strings.Count(said, "\n") != len(want) || strings.Contains(said, "Page ") {
			t.Errorf("%s in full: %d lines, %v", word, strings.Count(said, "\n"), err)
		}
	}
}

// TestSuggest checks that nod suggests requests and grants in its own words, and
// only those that a person may see.
func TestSuggest(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.hide = masker("topsecret")
	w := newWorld(t, s)
	r := shell("make deploy")
	r.Prompt = "nothing dangerous"
	id := w.open(bridge.Agent{Name: "ci"}, r).Interaction.ID
	r = shell("echo topsecret")
	w.open(bridge.Agent{Name: "ci"}, r)
	r = shell("make other")
	r.Route = "prod"
	w.open(bridge.Agent{Name: "ci"}, r)
	r = shell("make granted")
	r.Session, r.Approval.Scopes, r.Approval.Decisions = "s", []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}, nil
	w.press("ana", w.open(bridge.Agent{Name: "ci"}, r).Interaction.ID, "C1", bridge.DecideSession, "")
	suggest := func(who, text string, n int) string {
		t.Helper()
		found, err := w.engine.Suggest(t.Context(), bridge.Command{
			Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who}, Channels: []string{"C1"}, Text: text,
		}, n)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range found {
			out = append(out, s.Value+" "+s.Label+" "+s.Note)
		}
		return strings.Join(out, "\n")
	}
	all := suggest("ana", "show", 25)
	words := string(id) + " Run make deploy? ci, 10 min left"
	if strings.Count(all, "\n") != 1 || !strings.Contains(all, words) || strings.Contains(all, "dangerous") ||
		strings.Contains(all, "topsecret") {
		t.Errorf("ana's requests:\n%s", all)
	}
	if got := suggest("ana", "show", 1); !strings.HasPrefix(got, string(id)) || strings.Contains(got, "\n") {
		t.Errorf("at most one: %s", got)
	}
	if got := suggest("ana", "cancel", 25); got != all {
		t.Errorf("to cancel, nod suggests\n%s", got)
	}
	for text, want := range map[string]string{
		"show DEPLOY": string(id), "show " + string(id)[:30]: string(id), "show nothing": "", "show topsecret": "", "pending": "", "": "",
	} {
		if got := suggest("ana", text, 25); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q suggests %q", text, got)
		}
	}
	grants, err := w.engine.Grants.List(t.Context(), "")
	if err != nil || len(grants.Items) != 1 {
		t.Fatal(grants, err)
	}
	if got := suggest("ana", "revoke session", 25); !strings.HasPrefix(got, grants.Items[0].ID()+" ") || !strings.HasSuffix(got, " ci") {
		t.Errorf("ana's grants: %s", got)
	}
	for _, who := range []string{"eve", "cy"} {
		if got := suggest(who, "revoke", 25); got != "" {
			t.Errorf("%s's grants: %s", who, got)
		}
	}
	if got := suggest("eve", "show", 25); got != "" {
		t.Errorf("eve's requests: %s", got)
	}
	if got := suggest("cy", "show", 25); !strings.Contains(got, "make other") || strings.Contains(got, "deploy") {
		t.Errorf("cy's requests: %s", got)
	}
}
