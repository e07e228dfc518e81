package daemon_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestPicturesOfCards takes the pictures of docs/contribute/cards.md, for
// `make screenshot`. With NOD_CARDS_APART, it writes each card to files of its own in
// this folder instead, and their captions next to it.
func TestPicturesOfCards(t *testing.T) {
	t.Parallel()
	dir, apart := os.Getenv("NOD_SCREENSHOTS"), os.Getenv("NOD_CARDS_APART")
	switch {
	case apart != "":
		dir = apart
	case dir == "":
		t.Skip("make screenshot takes them")
	default:
		dir = filepath.Join(dir, "cards")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	written, captions := 0, ""
	for _, g := range []struct {
		name   string
		scenes func(*album)
	}{
		{"approvals", approvalCards}, {"endings", endingCards}, {"questions", questionCards}, {"rest", otherCards}, {"long", longCards},
		{"sessions", sessionCards},
	} {
		t.Run(g.name, func(t *testing.T) {
			al := newAlbum(t, rig.New(t, rig.Options{Config: cardConfig}))
			g.scenes(al)
			if apart != "" {
				captions += al.apart(apart, g.name, &written)
				return
			}
			al.sheets(dir, g.name)
		})
	}
	if apart == "" {
		return
	}
	if err := os.WriteFile(apart+"-captions.txt", []byte(captions), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cardConfig adds the settings that the cards need: the agent, a critical command, routes
// for two approvers, for private requests and for reminders, and one that leads to another chat.
func cardConfig(c *config.Config) {
	delete(c.Agents, "tester")
	c.Agents["deploy-bot"] = config.Agent{Token: config.NewSecret(rig.TestAgentToken)}
	c.Risks = []policy.Risk{{Name: "high"}, {Name: "critical", Confirm: "payments"}}
	c.Policy = []policy.Rule{
		{Name: "namespaces", Command: []string{"kubectl delete namespace *"}, Then: "ask", Risk: "critical"},
		{Name: "production", Command: []string{"kubectl delete *"}, Then: "ask", Risk: "high"},
		{Name: "restarts", Command: []string{"kubectl rollout *"}, Then: "ask", Route: "elsewhere"},
	}
	two := c.Routes[bridge.DefaultRoute]
	two.Quorum = 2
	c.Routes["two"] = two
	private := c.Routes[bridge.DefaultRoute]
	private.Payload = "private"
	c.Routes["private"] = private
	shown := c.Routes[bridge.DefaultRoute]
	shown.Sessions = true
	c.Routes["shown"] = shown
	soon := c.Routes[bridge.DefaultRoute]
	soon.Remind = "1s"
	c.Routes["soon"] = soon
	c.Routes["elsewhere"] = config.Route{To: []string{fmt.Sprintf("telegram:%d", sandbox.TelegramForum)}, Responders: []string{"ana"}}
}

// reasons holds the agent's words about its commands.
var reasons = map[string]string{
	deletePod:                                "Pod `api-7f9c4` has not responded since 13:52. The deployment starts a new one.",
	"kubectl delete namespace payments":      "Payments moved to the new cluster on Friday. Nothing uses this namespace now.",
	"kubectl delete deployment api":          "The deployment `api-v2` has taken over all traffic.",
	"kubectl rollout restart deployment/api": "A restart of the whole deployment also picks up the new limits.",
	"make test":                              "Checks the login change.",
	"make deploy":                            "The login change passed all tests.",
	"make migrate":                           "Adds the column `last_login`.",
}

// asks returns a request for an approval of a command.
func asks(session, command string) bridge.Request {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return bridge.Request{Ask: bridge.Ask{
		Session: session, Prompt: cmp.Or(reasons[command], "This is the next step of the release."), Requester: "cy", Timeout: bridge.Duration(15 * time.Minute),
		Approval: &bridge.Approval{
			Tool: "bash", Input: input, Where: "~/shop/api",
			Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways},
			Decisions: []bridge.Decision{
				bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyStop,
				bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways, bridge.DecideEdit,
			},
		},
	}}
}

const deletePod = "kubectl delete pod api-7f9c4"

func approvalCards(al *album) {
	const g = "approvals"
	short := al.Ask(asks("release-42", deletePod))
	al.card(g, "Approval of a short command", short)
	for _, s := range rig.Services {
		at := short.On(s)
		if s == "slack" {
			al.keep(s, g, "More… opened", fmt.Sprintf(`const e = document.querySelector('#slack article[data-message=%q]').cloneNode(true);
				e.querySelector("details.menu").open = true; return e`, at.Message))
		} else {
			al.Press("ana", at, render.LabelMore)
			al.says(s, g, "More… opened", strings.TrimSuffix(render.LabelDenyReason, "…"))
		}
	}
	opened, _ := al.Open("ana", short.On("slack"), render.LabelSession) // the others say it next to the button
	al.says("slack", g, "What “Approve identical requests in session” covers", "session")
	al.close("slack", opened.Modal)
	change, err := json.Marshal(map[string]string{
		"file_path":  "/srv/shop/api/limits.go",
		"old_string": "const (\n\tmaxConns = 100\n\tidle = 30 * time.Second\n)",
		"new_string": "const (\n\tmaxConns = 400\n\tidle = 30 * time.Second\n)",
	})
	if err != nil {
		al.t.Fatal(err)
	}
	edit := asks("release-42", "")
	edit.Prompt, edit.Approval.Tool, edit.Approval.Input = "The pool is too small for the new region.", "Edit", change
	al.card(g, "Approval of an edit, as a diff", al.Ask(edit))
	script := asks("release-43", migration())
	script.Prompt = "Moves the orders to the new table, month by month."
	long := al.Ask(script)
	for _, s := range rig.Services {
		al.ApprovingLabel(long.On(s))
	}
	al.card(g, "Approval of a long script (the picture cuts the code)", long)
	hidden := asks("release-45", deletePod)
	hidden.Route = "private"
	private := al.Ask(hidden)
	al.card(g, "Private request", private)
	opened = al.Press("ana", private.On("slack"), render.LabelReview) // on Telegram, it is in another chat
	al.says("slack", g, "What “Review…” opens for a responder", "api-7f9c4")
	al.close("slack", opened.Modal)
	critical := al.Ask(asks("cleanup-7", "kubectl delete namespace payments"))
	al.card(g, "Critical approval", critical)
	for _, s := range rig.Services {
		opened := al.Press("ana", critical.On(s), al.ApprovingLabel(critical.On(s)))
		al.says(s, g, "Typed confirmation", "payments")
		al.close(s, opened.Modal)
	}
	al.over(critical)
	both := asks("release-44", "kubectl delete deployment api")
	both.Route = "two"
	vote := al.Ask(both)
	al.Approve("ana", vote.On("discord"))
	al.Eventually("the vote is shown", func() bool { return strings.Contains(vote.Text("slack"), "1 of 2") })
	al.card(g, "One of two approvals", vote)
}

// close closes a dialog without an answer.
func (al *album) close(service, view string) {
	al.t.Helper()
	if view == "" {
		return
	}
	_, err := al.Sandbox.Act(al.Ctx, sandbox.Action{Service: service, As: "ana", Do: "close", View: view, Text: "all"})
	if err != nil {
		al.t.Fatal(err)
	}
}

// over cancels a request whose dialogs no one answers.
func (al *album) over(a rig.Asked) {
	al.t.Helper()
	if _, err := al.Agent.Cancel(al.Ctx, a.Interaction.ID, ""); err != nil {
		al.t.Fatal(err)
	}
}

// migration is a script that is too long for a card.
func migration() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nset -eu\n")
	for m := range 90 {
		fmt.Fprintf(&b, "psql \"$PROD\" -c \"INSERT INTO orders_v2 SELECT * FROM orders_v1 WHERE month = '%d-%02d'\"\n", 2019+m/12, m%12+1)
	}
	return b.String() + "echo done"
}

func endingCards(al *album) {
	e := &endings{album: al}
	e.approved()
	e.closed()
}

// endings takes the pictures of closed approvals.
type endings struct {
	*album
	n int // requests so far
}

// ask opens a request in a session of its own, so that no grant covers it.
func (e *endings) ask(command string) rig.Asked {
	e.t.Helper()
	e.n++
	return e.Ask(asks(fmt.Sprintf("release-%d", 50+e.n), command))
}

// done copies the cards of a request once they are closed.
func (e *endings) done(caption string, a rig.Asked, words ...string) {
	e.t.Helper()
	a.End()
	a.Closed(words...)
	e.card("endings", caption, a)
}

func (e *endings) approved() {
	once := e.ask(deletePod)
	e.Approve("bo", once.On("slack"))
	once.End()
	if _, err := e.Agent.Complete(e.Ctx, once.Interaction.ID, bridge.Completion{Result: "pod \"api-7f9c4\" deleted"}); err != nil {
		e.t.Fatal(err)
	}
	e.done("Approved once, with the result", once, "deleted")

	session := e.ask(deletePod)
	e.Decide("ana", session.On("slack"), render.LabelSession)
	e.done("Approved for the session", session, "ana")

	changed := e.ask(deletePod)
	const edited = `{"command":"kubectl delete pod api-7f9c4 --grace-period=60"}`
	e.Edit("bo", changed.On("slack"), edited)
	e.done("Approved with changes", changed, "with changes")

	always := e.ask("make test")
	e.Decide("ana", always.On("slack"), render.LabelAlways)
	e.done("Approved, also for all identical requests", always, "also for all identical requests")
}

func (e *endings) closed() {
	refused := e.ask(deletePod)
	e.Typed("bo", refused.On("telegram"), strings.TrimSuffix(render.LabelDenyReason, "…"), "The freeze ends at 15:00. Ask again then.")
	e.done("Denied, with a reason", refused, "freeze")

	stopped := e.ask(deletePod)
	e.Decide("bo", stopped.On("slack"), render.LabelDenyStop)
	e.done("Denied and stopped", stopped, "session stopped")

	late := asks("release-90", deletePod)
	late.Timeout = bridge.Duration(inTime)
	e.done("Expired", e.Ask(late), "Expired")

	gone := e.ask(deletePod)
	if _, err := e.Person.Cancel(e.Ctx, gone.Interaction.ID, "Bo repaired the pod by hand."); err != nil {
		e.t.Fatal(err)
	}
	e.done("Cancelled by a person", gone, "Cancelled")
	back := e.ask(deletePod)
	if _, err := e.Agent.Cancel(e.Ctx, back.Interaction.ID, "The pod has recovered."); err != nil {
		e.t.Fatal(err)
	}
	e.done("Cancelled by the agent", back, "recovered")

	moved := e.ask(deletePod)
	if _, err := e.Agent.Reprompt(e.Ctx, moved.Interaction.ID, asks("", "kubectl rollout restart deployment/api"), ""); err != nil {
		e.t.Fatal(err)
	}
	moved.Closed("Replaced")
	e.card("endings", "Superseded, with the new card in another chat", moved)

	for _, end := range []struct{ caption, reason, words string }{
		{"Approved in the terminal", bridge.ReasonAllowed, "Approved in the terminal"},
		{"Not approved in the terminal", bridge.ReasonDismissed, "Not approved in the terminal"},
	} {
		local := e.ask(deletePod)
		if _, err := e.Agent.Cancel(e.Ctx, local.Interaction.ID, end.reason); err != nil {
			e.t.Fatal(err)
		}
		e.done(end.caption, local, end.words)
	}
	e.withheld()
}

// withheld opens a request that Discord cannot show in full, because nod may not
// attach its file.
func (e *endings) withheld() {
	e.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	r := asks("release-91", strings.Repeat("kubectl get pods --all-namespaces\n", 200))
	if _, err := e.Agent.Open(e.Ctx, r, ""); err != nil {
		e.t.Fatal(err)
	}
	e.says("discord", "endings", "Not shown, without the permission to attach files", "Cannot be answered here")
}
