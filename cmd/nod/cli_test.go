package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestScripts runs the real binary as a shell would, against a daemon and the
// sandbox. The command "person" plays the people.
func TestScripts(t *testing.T) {
	t.Parallel()
	binary := nodBinary(t)
	r := newRig(t, rigOptions{})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("NOD_URL", r.daemons[0].url)
			env.Setenv("NOD_TOKEN", testAgentToken)
			env.Setenv("PERSON_TOKEN", anaToken)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"person": func(ts *testscript.TestScript, neg bool, args []string) { person(ts, r, args) },
		},
	})
}

// person WHO SERVICE PROMPT LABEL [TEXT] waits for the card whose prompt
// contains PROMPT, and presses the button that says LABEL; with a text, fills
// the form that opens.
func person(ts *testscript.TestScript, r *rig, args []string) {
	if len(args) < 4 {
		ts.Fatalf("usage: person WHO SERVICE PROMPT LABEL [TEXT]")
	}
	who, service, prompt, label := args[0], args[1], args[2], args[3]
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	c := client.New(r.daemons[0].url, testAgentToken, nil)
	at := cardOf(ctx, ts, c, service, prompt)
	reaction, err := r.sandbox.Person(who).Press(ctx, at, label)
	ts.Check(err)
	if len(args) > 4 {
		_, err = r.sandbox.Person(who).Fill(ctx, service, reaction.Modal, []string{args[4]})
		ts.Check(err)
	}
	ts.Logf("%s pressed %q on %s: %+v", who, label, service, reaction)
}

// cardOf waits until the card of a pending request is posted.
func cardOf(ctx context.Context, ts *testscript.TestScript, c *client.Client, service, prompt string) sandbox.Place {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		page, err := c.List(ctx, bridge.ListFilter{State: bridge.StatePending})
		ts.Check(err)
		for _, rec := range page.Items {
			for n, d := range rec.Interaction.Destinations {
				ref, posted := rec.Messages[n]
				if d.Platform == service && posted && strings.Contains(rec.Interaction.Prompt, prompt) {
					return sandbox.Place{Service: service, Channel: ref.Channel, Message: ref.Message}
				}
			}
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("no card says %q on %s", prompt, service)
		case <-tick.C:
		}
	}
}

func TestServeNeedsRedis(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := run([]string{"serve"}, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "--dev") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

// Not beside other tests: the demo promises to end within 15 seconds.
func TestDemoAutoplay(t *testing.T) {
	var out, errs strings.Builder
	if code := run([]string{"demo", "--autoplay", "--listen", "127.0.0.1:0"}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out.String(), errs.String())
	}
	if !strings.Contains(out.String(), "Everything came back right: 9 acts") {
		t.Error(out.String())
	}
}

// A client's wait survives a daemon that is restarted.
func TestClientReattaches(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	a := r.ask(approval())
	done := make(chan bridge.Record, 1)
	go func() {
		rec, err := r.agent.Wait(r.ctx, a.Interaction.ID)
		if err != nil {
			t.Error(err)
		}
		done <- rec
	}()
	address := strings.TrimPrefix(r.daemons[0].url, "http://")
	r.daemons[0].stop()
	r.daemons = nil
	r.start(listenOn(t, address))
	r.connected()
	r.press("ana", a.on("slack"), "Allow once")
	select {
	case rec := <-done:
		if rec.State != bridge.StateApproved {
			t.Errorf("state %s", rec.State)
		}
	case <-time.After(patience):
		t.Fatal("the client never came back")
	}
}

func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	a := r.ask(approval())
	other := newClient(r.daemons[0].url, otherAgentToken)
	if _, err := other.Get(r.ctx, a.Interaction.ID); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("another agent's request: %v", err)
	}
	if _, err := other.Cancel(r.ctx, a.Interaction.ID, ""); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("cancel by another agent: %v", err)
	}
	if _, err := r.agent.Respond(r.ctx, a.Interaction.ID, answerOnce); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an agent answering: %v", err)
	}
	if _, err := r.person.Open(r.ctx, approval(), ""); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a person asking: %v", err)
	}
	if _, err := newClient(r.daemons[0].url, "nonsense").Get(r.ctx, a.Interaction.ID); bridge.ErrorCode(err) != bridge.CodeUnauthenticated {
		t.Errorf("no token: %v", err)
	}
	if _, err := r.person.Respond(r.ctx, a.Interaction.ID, bridge.Reply{Decision: "always"}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a decision not on offer: %v", err)
	}
	header := http.Header{"Authorization": {"Bearer " + testAgentToken}}
	for body, want := range map[string]int{
		"":                             400,
		"{":                            400,
		`{"prompt":""}`:                400,
		`{"prompt":"x","promt":"y"}`:   400,
		`{"prompt":"x"} {}`:            400,
		`{"prompt":"x","timeout":"y"}`: 400,
		`{"prompt":"x","questions":[{"widget":"slider"}]}`:                      400,
		`{"prompt":"x","route":"nowhere"}`:                                      400,
		`{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`:                       400,
		fmt.Sprintf(`{"prompt":%q,"approval":{}}`, strings.Repeat("x ", 60000)): 400,
	} {
		if got := r.postTo("/v1/interactions", header, body); got != want {
			t.Errorf("%.60s: %d, want %d", body, got, want)
		}
	}
	a.pending("slack")
}

func TestUnsupportedIsRefusedBeforehand(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("discord")})
	req := one(bridge.WidgetCheckbox)
	for n := range 200 {
		req.Questions[0].Options = append(req.Questions[0].Options, bridge.Option{Value: fmt.Sprint("v", n)})
	}
	_, err := r.agent.Open(r.ctx, req, "")
	if bridge.ErrorCode(err) != bridge.CodeUnsupported || !strings.Contains(err.Error(), "125") {
		t.Errorf("got %v", err)
	}
	page, err := r.agent.List(r.ctx, bridge.ListFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d stored, %v", len(page.Items), err)
	}
}

func TestSessionCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack", "telegram")})
	req := approval(bridge.ScopeSession)
	granted := r.ask(req)
	r.press("ana", granted.on("slack"), "session")
	granted.end()
	again, err := r.agent.Open(r.ctx, req, "")
	if err != nil || again.State != bridge.StateApproved {
		t.Fatalf("the grant does not hold: %s, %v", again.State, err)
	}
	other := req
	other.Approval = &bridge.Approval{Tool: "other"}
	a, b := r.ask(other), r.ask(other)
	if _, err := r.agent.CancelSession(r.ctx, req.Session, "the run was aborted"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []asked{a, b} {
		if got := x.end(); got.State != bridge.StateCancelled {
			t.Errorf("state %s", got.State)
		}
		x.closed("Withdrawn", "the run was aborted")
	}
	if c := r.ask(req); c.State != bridge.StatePending {
		t.Errorf("the grant outlived its session: %s", c.State)
	}
}
