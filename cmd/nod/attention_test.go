package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestAttention is about disturbing people no more than is needed.
func TestAttention(t *testing.T) {
	t.Parallel()
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(service), daemons: 2})
			for _, c := range []struct {
				name string
				test func(r *rig, service string)
			}{
				{"grace holds the card back", grace}, {"identical requests are asked once", twins}, {"several approvals are one message", batchOneByOne},
				{"all of a batch at once", batchAll}, {"what does not fit a batch stands alone", notBatched},
				{"a full batch of long ones is delivered whole", batchFull},
			} {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.t = t
					c.test(&sub, service)
				})
			}
		})
	}
}

func grace(r *rig, s string) {
	req := approval(bridge.ScopeOnce)
	req.Prompt, req.Grace = "Answered at the keyboard", bridge.Duration(1500*time.Millisecond)
	quick, err := r.agent.Open(r.ctx, req, "")
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.agent.Cancel(r.ctx, quick.Interaction.ID, "answered at the terminal"); err != nil {
		r.t.Fatal(err)
	}
	req.Prompt, req.Session = "Nobody at the keyboard", "s-"+rand.Text()[:8]
	began := time.Now()
	a := r.ask(req) // returns once the card is posted
	if waited := time.Since(began); waited < time.Duration(req.Grace) {
		r.t.Errorf("the card came after %s", waited)
	}
	if got, err := r.agent.Get(r.ctx, quick.Interaction.ID); err != nil || len(got.Messages) > 0 {
		r.t.Errorf("a card was posted for what ended before: %v, %v", got.Messages, err)
	}
	r.press("ana", a.on(s), "Deny")
	a.end()
}

func twins(r *rig, s string) {
	req := approval(bridge.ScopeOnce)
	req.Join = true
	a := r.ask(req)
	ids := make(chan bridge.ID, 3)
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			rec, err := r.agent.Open(r.ctx, req, fmt.Sprintf("twin-%s-%d", req.Session, n))
			if err != nil {
				r.t.Error(err)
			}
			ids <- rec.Interaction.ID
		})
	}
	wg.Wait()
	for range 3 {
		if id := <-ids; id != a.Interaction.ID {
			r.t.Errorf("asked twice: %s beside %s", id, a.Interaction.ID)
		}
	}
	if again, err := r.agent.Open(r.ctx, req, "twin-"+req.Session+"-1"); err != nil || again.Joined != 3 {
		r.t.Errorf("a repeat counts again: %d, %v", again.Joined, err)
	}
	r.eventually("the card counts them", func() bool { return strings.Contains(a.text(s), "4 identical requests") })
	other := req
	other.Session = "s-" + rand.Text()[:8]
	if rec, err := r.agent.Open(r.ctx, other, ""); err != nil || rec.Interaction.ID == a.Interaction.ID {
		r.t.Errorf("joined another session's: %v", err)
	} else if _, err := r.agent.Cancel(r.ctx, rec.Interaction.ID, ""); err != nil {
		r.t.Error(err)
	}
	r.press("ana", a.on(s), "Allow once")
	a.end()
	// It is over: the same request is asked again.
	if rec, err := r.agent.Open(r.ctx, req, ""); err != nil || rec.Interaction.ID == a.Interaction.ID || rec.State != bridge.StatePending {
		r.t.Errorf("an old answer was taken: %s, %v", rec.State, err)
	}
}

// batch opens n approvals of one session through both daemons and waits until
// their message is posted.
func (r *rig) batch(s string, n int) []asked {
	r.t.Helper()
	session := "s-" + rand.Text()[:8]
	out := make([]asked, n)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			req := approval(bridge.ScopeOnce, bridge.ScopeSession)
			req.Session, req.Batch = session, bridge.Duration(1500*time.Millisecond)
			req.Prompt, req.Approval.Input = fmt.Sprintf("Step %d", k+1), fmt.Appendf(nil, `{"command":"make step%d"}`, k+1)
			rec, err := r.agent.Open(r.ctx, req, "")
			if err != nil {
				r.t.Error(err)
			}
			out[k] = asked{Record: rec, r: r}
		})
	}
	wg.Wait()
	first := out[0].Interaction.ID
	if b := out[0].Batch; b != "" {
		first = b
	}
	var rec bridge.Record
	r.eventually("the batch is posted", func() bool {
		var err error
		rec, err = r.agent.Get(r.ctx, first)
		return err == nil && len(rec.Messages) == 1 && len(rec.Members) == n
	})
	for k := range out {
		out[k].Messages = rec.Messages
	}
	for k := range n {
		r.eventually("the message shows all", func() bool { return strings.Contains(out[0].text(s), fmt.Sprintf("make step%d", k+1)) })
	}
	return out
}

// of finds the control of one of a batch.
func (r *rig) of(a asked, s, label string) sandbox.Control {
	r.t.Helper()
	number := ""
	first, err := r.agent.Get(r.ctx, bridge.ID(strings.TrimSpace(string(a.Batch))))
	if a.Batch == "" {
		first, err = r.agent.Get(r.ctx, a.Interaction.ID)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	n := 0
	for k, id := range first.Members {
		if id == a.Interaction.ID {
			n, number = k, fmt.Sprintf("%d · ", k+1)
		}
	}
	seen := 0
	for _, c := range a.controls(s) {
		if s == "slack" && c.Label == label { // a row of buttons below each
			if seen == n {
				return c
			}
			seen++
		}
		if s != "slack" && c.Label == number+label {
			return c
		}
	}
	r.t.Fatalf("no %q of %d among %v", label, n+1, a.controls(s))
	return sandbox.Control{}
}

func batchOneByOne(r *rig, s string) {
	all := r.batch(s, 3)
	if got := len(r.sandboxMessages(s, all[0])); got != 1 {
		r.t.Errorf("%d messages for one batch", got)
	}
	yes, no, left := r.of(all[0], s, "Allow once"), r.of(all[1], s, "Deny"), all[2]
	r.pressed("ana", all[0].on(s), yes)
	if got := all[0].end(); got.State != bridge.StateApproved {
		r.t.Errorf("the first is %s", got.State)
	}
	r.pressed("bo", all[1].on(s), no)
	if got := all[1].end(); got.State != bridge.StateDenied {
		r.t.Errorf("the second is %s", got.State)
	}
	if got, err := r.agent.Get(r.ctx, left.Interaction.ID); err != nil || got.State != bridge.StatePending {
		r.t.Errorf("the third is %s, %v", got.State, err)
	}
	r.eventually("the message says what is decided", func() bool {
		text := left.text(s)
		return strings.Contains(text, "1 of 3 permissions still wanted") && strings.Contains(text, "Approved once") && strings.Contains(text, "Denied")
	})
	if _, err := r.agent.Cancel(r.ctx, left.Interaction.ID, "changed my mind"); err != nil {
		r.t.Fatal(err)
	}
	left.closed("all decided", "Withdrawn by the agent")
}

func batchAll(r *rig, s string) {
	all := r.batch(s, 4)
	if _, err := r.person.Respond(r.ctx, all[2].Interaction.ID, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
		r.t.Fatal(err)
	}
	r.press("ana", all[0].on(s), "Allow all once")
	for k, a := range all {
		want := bridge.StateApproved
		if k == 2 {
			want = bridge.StateDenied
		}
		if got := a.end(); got.State != want || got.Response.Actor.Person != "ana" {
			r.t.Errorf("number %d is %s", k+1, got.State)
		}
	}
	all[0].closed("4 requests, all decided")
}

// batchFull is as long as a batch can be; the emulated services refuse what is
// longer than their limits.
func batchFull(r *rig, s string) {
	session := "s-" + rand.Text()[:8]
	var first bridge.ID
	for k := range bridge.MaxBatch + 1 {
		req := approval(bridge.ScopeOnce, bridge.ScopeSession)
		req.Session, req.Batch, req.Prompt = session, bridge.Duration(6*time.Second), fmt.Sprintf("Step %d", k+1)
		req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("[*_ `line`\n", 100)+fmt.Sprintf("end%d", k+1))
		rec, err := r.agent.Open(r.ctx, req, "")
		if err != nil {
			r.t.Fatal(err)
		}
		switch {
		case k == 0:
			first = rec.Interaction.ID
		case k < bridge.MaxBatch && rec.Batch != first:
			r.t.Fatalf("number %d is not of the batch", k+1)
		case k == bridge.MaxBatch && rec.Batch == first:
			r.t.Fatal("the batch is longer than it may be")
		}
	}
	a := asked{r: r}
	r.eventually("the batch is posted", func() bool {
		var err error
		a.Record, err = r.agent.Get(r.ctx, first)
		return err == nil && len(a.Messages)+len(a.Failures) == 1
	})
	if len(a.Failures) > 0 {
		r.t.Fatalf("it was refused: %v", a.Failures)
	}
	if !strings.Contains(a.text(s), "Shortened here") {
		r.t.Errorf("the card does not say that it is shortened: %.300s", a.text(s))
	}
	if s != "discord" { // its file is of the same message
		var all strings.Builder
		for _, c := range r.sandbox.State().Slack.Channels {
			for _, m := range c.Messages {
				all.WriteString(sandbox.Texts(m))
			}
		}
		if s == "slack" && !strings.Contains(all.String(), fmt.Sprintf("end%d", bridge.MaxBatch)) {
			r.t.Error("the last one's text is not delivered whole")
		}
	}
	r.press("ana", a.on(s), "Deny all")
	if got := a.end(); got.State != bridge.StateDenied {
		r.t.Errorf("it is %s", got.State)
	}
}

func notBatched(r *rig, s string) {
	req := approval(bridge.ScopeOnce)
	req.Batch, req.Approval.Input = bridge.Duration(200*time.Millisecond), fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("x", bridge.MaxBatchItem))
	a := r.ask(req)
	if a.Interaction.Batch != 0 || len(a.Members) > 0 {
		r.t.Error("a long request was put among others")
	}
	r.press("ana", a.on(s), "Deny")
	a.end()
}

// sandboxMessages are the messages of a channel that mention the steps of a
// batch.
func (r *rig) sandboxMessages(s string, a asked) []string {
	var out []string
	at := a.on(s)
	state := r.sandbox.State()
	switch s {
	case "slack":
		for _, c := range state.Slack.Channels {
			for _, m := range c.Messages {
				out = append(out, sandbox.Texts(m))
			}
		}
	case "discord":
		for _, c := range state.Discord.Channels {
			for _, m := range c.Messages {
				out = append(out, sandbox.Texts(m))
			}
		}
	default:
		for _, c := range state.Telegram.Chats {
			if c.ID == at.Channel {
				for _, m := range c.Messages {
					out = append(out, sandbox.Texts(m))
				}
			}
		}
	}
	var hits []string
	for _, text := range out {
		if strings.Contains(text, a.Interaction.Session) && strings.Contains(text, "make step") {
			hits = append(hits, text)
		}
	}
	return hits
}

// pressed presses a control that was found before.
func (r *rig) pressed(who string, at sandbox.Place, c sandbox.Control) {
	r.t.Helper()
	reaction, err := r.sandbox.Act(r.ctx, sandbox.Action{Service: at.Service, As: who, Do: "press", Channel: at.Channel, Message: at.Message, Control: c.ID})
	must(r.t, reaction, err)
}
