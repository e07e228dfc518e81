package daemon_test

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render/discordmsg"
)

// TestAttention checks that nod notifies people no more often than necessary.
func TestAttention(t *testing.T) {
	t.Parallel()
	for _, service := range rig.Services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(service), Daemons: 2})
			for _, c := range []struct {
				name string
				test func(r *rig.Rig, service string)
			}{
				{"grace holds the card back", grace}, {"identical requests are asked once", duplicates}, {"several approvals share one message", batchOneByOne},
				{"all of a batch at once", batchAll}, {"a request that does not fit a batch gets its own message", notBatched},
				{"a full batch of long requests is delivered completely", batchFull},
			} {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.T = t
					c.test(&sub, service)
				})
			}
		})
	}
}

func grace(r *rig.Rig, s string) {
	req := rig.Approval(bridge.ScopeOnce)
	req.Prompt, req.Grace = "Answered at the keyboard", bridge.Duration(time.Minute)
	quick, err := r.Agent.Open(r.Ctx, req, "")
	if err != nil {
		r.T.Fatal(err)
	}
	if _, err := r.Agent.Cancel(r.Ctx, quick.Interaction.ID, "answered at the terminal"); err != nil {
		r.T.Fatal(err)
	}
	req.Prompt, req.Session, req.Grace = "No one at the keyboard", "s-"+rand.Text()[:8], bridge.Duration(1500*time.Millisecond)
	began := time.Now()
	a := r.Ask(req) // returns once the card is posted
	if waited := time.Since(began); waited < time.Duration(req.Grace) {
		r.T.Errorf("the card came after %s", waited)
	}
	if got, err := r.Agent.Get(r.Ctx, quick.Interaction.ID); err != nil || len(got.Messages) > 0 {
		r.T.Errorf("a card was posted for a request that was already closed: %v, %v", got.Messages, err)
	}
	r.Press("ana", a.On(s), "Deny")
	a.End()
}

func duplicates(r *rig.Rig, s string) {
	req := rig.Approval(bridge.ScopeOnce)
	req.Join = true
	a := r.Ask(req)
	ids := make(chan bridge.ID, 3)
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			rec, err := r.Agent.Open(r.Ctx, req, fmt.Sprintf("duplicate-%s-%d", req.Session, n))
			if err != nil {
				r.T.Error(err)
			}
			ids <- rec.Interaction.ID
		})
	}
	wg.Wait()
	for range 3 {
		if id := <-ids; id != a.Interaction.ID {
			r.T.Errorf("asked twice: %s and %s", id, a.Interaction.ID)
		}
	}
	if again, err := r.Agent.Open(r.Ctx, req, "duplicate-"+req.Session+"-1"); err != nil || again.Joined != 3 {
		r.T.Errorf("a repeat counts again: %d, %v", again.Joined, err)
	}
	r.Eventually("the card counts them", func() bool { return strings.Contains(a.Text(s), "4 identical requests") })
	other := req
	other.Session = "s-" + rand.Text()[:8]
	if rec, err := r.Agent.Open(r.Ctx, other, ""); err != nil || rec.Interaction.ID == a.Interaction.ID {
		r.T.Errorf("joined another session's: %v", err)
	} else if _, err := r.Agent.Cancel(r.Ctx, rec.Interaction.ID, ""); err != nil {
		r.T.Error(err)
	}
	r.Press("ana", a.On(s), "Run command")
	a.End()
	// The request is closed, so an identical one is asked again.
	if rec, err := r.Agent.Open(r.Ctx, req, ""); err != nil || rec.Interaction.ID == a.Interaction.ID || rec.State != bridge.StatePending {
		r.T.Errorf("an old answer was used: %s, %v", rec.State, err)
	}
}

// batch sends n approvals of one session through both daemons and waits until
// their message is posted.
func batch(r *rig.Rig, s string, n int) []rig.Asked {
	r.T.Helper()
	session := "s-" + rand.Text()[:8]
	out := make([]rig.Asked, n)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			req := rig.Approval(bridge.ScopeOnce, bridge.ScopeSession)
			req.Session, req.Batch = session, bridge.Duration(bridge.MaxBatchWindow)
			req.Prompt, req.Approval.Input = fmt.Sprintf("Step %d", k+1), fmt.Appendf(nil, `{"command":"make step%d"}`, k+1)
			rec, err := r.Agent.Open(r.Ctx, req, "")
			if err != nil {
				r.T.Error(err)
			}
			out[k] = rig.Asked{Record: rec, R: r}
		})
	}
	wg.Wait()
	first := out[0].Interaction.ID
	if b := out[0].Batch; b != "" {
		first = b
	}
	r.Due(bridge.JobPost, first, 0)
	var rec bridge.Record
	r.Eventually("the batch is posted", func() bool {
		var err error
		rec, err = r.Agent.Get(r.Ctx, first)
		return err == nil && len(rec.Messages) == 1 && len(rec.Members) == n
	})
	for k := range out {
		out[k].Messages = rec.Messages
	}
	for k := range n {
		r.Eventually("the message shows all", func() bool { return strings.Contains(out[0].Text(s), fmt.Sprintf("make step%d", k+1)) })
	}
	return out
}

// of returns a control of one request in a batch.
func of(r *rig.Rig, a rig.Asked, s, label string) sandbox.Control {
	r.T.Helper()
	first, err := r.Agent.Get(r.Ctx, bridge.ID(strings.TrimSpace(string(a.Batch))))
	if a.Batch == "" {
		first, err = r.Agent.Get(r.Ctx, a.Interaction.ID)
	}
	if err != nil {
		r.T.Fatal(err)
	}
	for k, id := range first.Members {
		if id == a.Interaction.ID {
			label += " " + strconv.Itoa(k+1)
		}
	}
	for _, c := range a.Controls(s) {
		if c.Label == label {
			return c
		}
	}
	r.T.Fatalf("no control %q among %v", label, a.Controls(s))
	return sandbox.Control{}
}

func batchOneByOne(r *rig.Rig, s string) {
	all := batch(r, s, 3)
	if got := len(sandboxMessages(r, s, all[0])); got != 1 {
		r.T.Errorf("%d messages for one batch", got)
	}
	yes, no, left := of(r, all[0], s, "Run"), of(r, all[1], s, "Deny"), all[2]
	clicked(r, "ana", all[0].On(s), yes)
	if got := all[0].End(); got.State != bridge.StateApproved {
		r.T.Errorf("the first is %s", got.State)
	}
	clicked(r, "bo", all[1].On(s), no)
	if got := all[1].End(); got.State != bridge.StateDenied {
		r.T.Errorf("the second is %s", got.State)
	}
	if got, err := r.Agent.Get(r.Ctx, left.Interaction.ID); err != nil || got.State != bridge.StatePending {
		r.T.Errorf("the third is %s, %v", got.State, err)
	}
	r.Eventually("the message says what is decided", func() bool {
		text := left.Text(s)
		return strings.Contains(text, "1 is left") && strings.Contains(text, "Approved by") && strings.Contains(text, "Denied")
	})
	if _, err := r.Agent.Cancel(r.Ctx, left.Interaction.ID, "changed my mind"); err != nil {
		r.T.Fatal(err)
	}
	left.Closed("decided", "Withdrawn by")
}

func batchAll(r *rig.Rig, s string) {
	all := batch(r, s, 4)
	if _, err := r.Person.Respond(r.Ctx, all[2].Interaction.ID, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
		r.T.Fatal(err)
	}
	r.Decide("ana", all[0].On(s), "Run all 3…")
	for k, a := range all {
		want := bridge.StateApproved
		if k == 2 {
			want = bridge.StateDenied
		}
		if got := a.End(); got.State != want || got.Response.Actor.Person != "ana" {
			r.T.Errorf("number %d is %s", k+1, got.State)
		}
	}
	all[0].Closed("4 of 4 decided")
}

// batchFull sends the largest possible batch. The emulated platforms reject
// messages that exceed their limits.
func batchFull(r *rig.Rig, s string) {
	session := "s-" + rand.Text()[:8]
	var first bridge.ID
	size := bridge.MaxBatch
	if s == "discord" {
		size = discordmsg.MaxItems
	}
	for k := range size + 1 {
		req := rig.Approval(bridge.ScopeOnce, bridge.ScopeSession)
		req.Session, req.Batch, req.Prompt = session, bridge.Duration(bridge.MaxBatchWindow), fmt.Sprintf("Step %d", k+1)
		req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("[*_ `line`\n", 100)+fmt.Sprintf("end%d", k+1))
		rec, err := r.Agent.Open(r.Ctx, req, "")
		if err != nil {
			r.T.Fatal(err)
		}
		switch {
		case k == 0:
			first = rec.Interaction.ID
		case k < size && rec.Batch != first:
			r.T.Fatalf("number %d is not of the batch", k+1)
		case k == size && rec.Batch == first:
			r.T.Fatal("the batch is longer than it may be")
		}
	}
	r.Due(bridge.JobPost, first, 0)
	a := rig.Asked{R: r}
	r.Eventually("the batch is posted", func() bool {
		var err error
		a.Record, err = r.Agent.Get(r.Ctx, first)
		return err == nil && len(a.Messages)+len(a.Failures) == 1
	})
	if len(a.Failures) > 0 {
		r.T.Fatalf("it was rejected: %v", a.Failures)
	}
	if !strings.Contains(a.Text(s), "Shortened here") {
		r.T.Errorf("the card does not say that it is shortened: %.300s", a.Text(s))
	}
	if s == "slack" { // elsewhere, a file has the texts
		last := ""
		for _, c := range sandbox.Controls(s, r.Sandbox.Message(a.On(s))) {
			if strings.Contains(c.Label, "Read and") {
				last = c.Label
			}
		}
		opened := r.Press("ana", a.On(s), last)
		whole := false
		for _, v := range r.Sandbox.State().Slack.Views {
			whole = whole || v.ID == opened.Modal && strings.Contains(rig.ShownIn(v.View), fmt.Sprintf("end%d", size))
		}
		if !whole {
			r.T.Errorf("%q does not show the text of the last request", last)
		}
	}
	r.Press("ana", a.On(s), "Deny all")
	if got := a.End(); got.State != bridge.StateDenied {
		r.T.Errorf("it is %s", got.State)
	}
}

func notBatched(r *rig.Rig, s string) {
	req := rig.Approval(bridge.ScopeOnce)
	req.Batch, req.Approval.Input = bridge.Duration(200*time.Millisecond), fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("x", bridge.MaxBatchItem))
	a := r.Ask(req)
	if a.Interaction.Batch != 0 || len(a.Members) > 0 {
		r.T.Error("a long request was added to a batch")
	}
	r.Press("ana", a.On(s), "Deny")
	a.End()
}

// sandboxMessages returns the messages of a channel that mention the steps of a
// batch.
func sandboxMessages(r *rig.Rig, s string, a rig.Asked) []string {
	var out []string
	at := a.On(s)
	state := r.Sandbox.State()
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

// clicked clicks a control that was found earlier.
func clicked(r *rig.Rig, who string, at sandbox.Place, c sandbox.Control) {
	r.T.Helper()
	reaction, err := r.Sandbox.Act(r.Ctx, sandbox.Action{Service: at.Service, As: who, Do: "press", Channel: at.Channel, Message: at.Message, Control: c.ID})
	rig.Must(r.T, reaction, err)
}
