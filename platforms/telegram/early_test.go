package telegram_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
	"github.com/nodbridge/nod/render"
)

// late stores the purpose of a prompt only after people have seen the prompt.
type late struct{ platforms.Notes }

// PutNote implements platforms.Notes.
func (l late) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	if strings.HasPrefix(key, "reply:") {
		bridge.Pause(ctx, 300*time.Millisecond)
	}
	return l.Notes.PutNote(ctx, key, value, ttl)
}

// newLateWorld is like newWorld, but nod stores late what its prompts belong to.
func newLateWorld(t *testing.T) world {
	t.Helper()
	h := harness
	h.New = func(s platformtest.Setup) (platformtest.Platform, error) {
		s.Notes = late{s.Notes}
		return harness.New(s)
	}
	sink := &platformtest.Recorder{}
	r := platformtest.New(t, h, platformtest.Options{Sink: sink})
	return world{r, r.Platform.(*telegram.Platform), sink}
}

// TestFastPerson checks that a click on a menu and a reply to a prompt belong to
// the card, although they come before nod has stored that.
func TestFastPerson(t *testing.T) {
	t.Parallel()
	w := newLateWorld(t)
	v := w.approval()
	ref, at := w.post(bridge.Destination{Channel: group}, v)
	ana := w.Sandbox.Person("ana")
	var wg sync.WaitGroup
	defer wg.Wait()
	opens := func(at sandbox.Place, v bridge.View, c bridge.Control, label string) {
		w.sink.Shows(bridge.Form{View: v, Control: c}, nil)
		wg.Go(func() { _, _ = ana.Press(t.Context(), at, label) }) // the click ends after nod has stored what it showed
	}

	opens(at, v, bridge.Control{Action: bridge.ActionMore}, render.LabelMore)
	menu := w.Menu("ana", at, render.LabelSession)
	if r, err := ana.Press(t.Context(), menu, render.LabelSession); err != nil || !r.OK {
		t.Fatal(r, err)
	}
	v = w.question("ready?")
	asked, question := w.post(bridge.Destination{Channel: group}, v)
	opens(question, v, bridge.Control{Interaction: v.Record.Interaction.ID, Option: bridge.OptionForm}, render.LabelAnswer)
	w.Eventually("the prompt is posted", func() bool { return len(w.prompts(group)) == 1 })
	reply := sandbox.Action{Service: "telegram", As: "ana", Do: "reply", Channel: group, Message: fmt.Sprint(w.prompts(group)[0]["message_id"]), Text: "yes"}
	if r, err := w.Sandbox.Act(t.Context(), reply); err != nil || !r.OK {
		t.Fatal(r, err)
	}
	w.Eventually("the reply is recorded", func() bool { return len(w.sink.Clicks()) == 4 })
	for n, want := range []bridge.MessageRef{ref, ref, asked, asked} {
		if got := w.sink.Clicks()[n].Ref; got != want {
			t.Errorf("click %d is on %+v, want %+v", n+1, got, want)
		}
	}
}

// TestFastReply checks that a reply to a card counts although it arrives before
// nod has stored that the card accepts replies.
func TestFastReply(t *testing.T) {
	t.Parallel()
	w := newLateWorld(t)
	v := w.question("ready?")
	posted := make(chan error, 1)
	go func() {
		_, err := w.p.Post(t.Context(), bridge.Destination{Channel: group}, v, bridge.NewParts(nil, nil))
		posted <- err
	}()
	w.Eventually("people see the card", func() bool { return len(w.Messages()) > 0 })
	reply := sandbox.Action{Service: "telegram", As: "ana", Do: "reply", Channel: group, Message: fmt.Sprint(w.Messages()[0]["message_id"]), Text: "yes"}
	if r, err := w.Sandbox.Act(t.Context(), reply); err != nil || !r.OK {
		t.Fatal(r, err)
	}
	w.Eventually("the reply is recorded", func() bool { return len(w.sink.Clicks()) == 1 })
	if err := <-posted; err != nil {
		t.Error(err)
	}
}

// TestTakeBack checks that a message that Telegram does not show in full, and does not
// let nod delete, offers nothing.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question(strings.Repeat("a long question, ", 30) + "ready?")
	w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: "sendMessage", Kind: "truncate"})
	w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: "deleteMessage", Kind: "error", Error: "400 Bad Request: message can't be deleted"})
	if _, err := w.p.Post(t.Context(), bridge.Destination{Channel: group}, v, bridge.NewParts(nil, nil)); bridge.ErrorCode(err) != bridge.CodeUnsupported {
		t.Errorf("Post returns %v", err)
	}
	w.Sandbox.ClearFaults()
	for _, m := range w.Messages() {
		if c := sandbox.Controls("telegram", m); len(c) > 0 {
			t.Errorf("the message offers %v", c)
		}
	}
}

// TestOtherWebhook checks that the health names another program that changes the
// webhook.
func TestOtherWebhook(t *testing.T) {
	t.Parallel()
	sink := &platformtest.Recorder{}
	r := platformtest.New(t, harness, platformtest.Options{Sink: sink, HTTP: true}).Connected()
	other, err := http.PostForm(r.Base+"/telegram/bot"+sandbox.TelegramToken+"/setWebhook", url.Values{"url": {"https://elsewhere.example.com/"}})
	if err != nil {
		t.Fatal(err)
	}
	other.Body.Close()
	r.Fault(sandbox.Fault{Kind: "error", Method: "sendMessage", Error: "401 Unauthorized", Count: 1}) // the adapter looks again
	_ = r.Platform.Tell(t.Context(), "7001", "hello")
	r.Eventually("health names the other program", func() bool {
		h := r.Platform.Health()
		return h.State == bridge.HealthDegraded && strings.Contains(h.Reason, "another program")
	})
}

// TestOtherPoller checks that the health names another program that polls.
func TestOtherPoller(t *testing.T) {
	t.Parallel()
	r := platformtest.New(t, harness, platformtest.Options{Sink: &platformtest.Recorder{}}).Connected()
	r.Eventually("health names the other program", func() bool {
		other, err := http.Get(r.Base + "/telegram/bot" + sandbox.TelegramToken + "/getUpdates?timeout=0")
		if err != nil {
			return false
		}
		other.Body.Close()
		h := r.Platform.Health()
		return h.State == bridge.HealthDegraded && strings.Contains(h.Reason, "another program polls")
	})
}
