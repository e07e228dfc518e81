package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	human "github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestScripts runs the real binary in scripts, against a daemon and the
// sandbox. The command "person" acts for people.
func TestScripts(t *testing.T) {
	t.Parallel()
	binary := rig.Binary(t)
	r := rig.New(t, rig.Options{})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("NOD_URL", r.Daemons[0].URL)
			env.Setenv("NOD_TOKEN", rig.TestAgentToken)
			env.Setenv("PERSON_TOKEN", rig.AnaToken)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"person": func(ts *testscript.TestScript, neg bool, args []string) { person(ts, r, args) },
		},
	})
}

// person implements the command person WHO SERVICE PROMPT LABEL [TEXT]. It
// waits for the card whose prompt contains PROMPT and clicks the button LABEL.
// With a text, it fills in the form that opens.
func person(ts *testscript.TestScript, r *rig.Rig, args []string) {
	if len(args) < 4 {
		ts.Fatalf("usage: person WHO SERVICE PROMPT LABEL [TEXT]")
	}
	who, service, prompt, label := args[0], args[1], args[2], args[3]
	ctx, cancel := context.WithTimeout(r.Ctx, await.Limit)
	defer cancel()
	c := client.New(r.Daemons[0].URL, rig.TestAgentToken, nil)
	at := cardOf(ctx, ts, c, service, prompt)
	p := r.Sandbox.Person(who)
	do := func() (sandbox.Reaction, error) { return p.Press(ctx, at, label) }
	if len(args) > 4 {
		open := do
		do = func() (sandbox.Reaction, error) {
			return human.Form(open, func(modal string) (sandbox.Reaction, error) {
				return p.Fill(ctx, service, modal, []string{args[4]})
			})
		}
	}
	reaction, err := do()
	human.Did(r.T, reaction, err)
	ts.Logf("%s clicked %q on %s: %+v", who, label, service, reaction)
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

// TestServeNeedsRedis checks that nod serve without Redis says how to start.
func TestServeNeedsRedis(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := Run([]string{"serve"}, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "--dev") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}
