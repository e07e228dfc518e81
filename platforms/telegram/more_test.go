package telegram_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// approval is a view that offers a longer approval and a denial with a reason.
func (w world) approval() bridge.View {
	i := notice().Record.Interaction
	i.ID, i.Kind, i.Prompt = bridge.ID(uuid.NewString()), bridge.KindApproval, "May I?"
	i.Session, i.Approval = "s", &bridge.Approval{Tool: "bash", Input: []byte(`{"command":"make"}`),
		Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}}
	i.GrantKey = "exact:1"
	return bridge.NewView(bridge.Record{State: bridge.StatePending, Interaction: i}, 0, nil, w.Keys.Sign)
}

// offers clicks More and returns the menu that it shows.
func (w world) offers(who string, at sandbox.Place, v bridge.View) sandbox.Place {
	w.T.Helper()
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{Action: bridge.ActionMore}}, nil)
	before, _ := w.Sandbox.Person(who).Menu(at, render.LabelSession)
	if r, err := w.Sandbox.Person(who).Press(w.Ctx, at, render.LabelMore); err != nil || !r.OK {
		w.T.Fatal(r, err)
	}
	menu := before
	w.Eventually("the menu is shown", func() bool {
		var ok bool
		menu, ok = w.Sandbox.Person(who).Menu(at, render.LabelSession)
		return ok && menu != before
	})
	return menu
}

// gone waits until a message is gone.
func (w world) gone(at sandbox.Place) {
	w.T.Helper()
	w.Eventually("the menu is removed", func() bool { return w.Sandbox.Message(at) == nil })
}

// TestMenu checks that only the person who clicked sees the menu if the server
// can do that, and that it is removed once it is no longer needed.
func TestMenu(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		server, chat, topic string
		private             bool
	}{
		"private": {"", group, "", true}, "older server": {"9.4", group, "", false}, "direct": {"", "7001", "", false},
		"topic": {"", forum, strconv.Itoa(sandbox.TelegramTopic), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if x.server != "" {
				w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Kind: "old_server", Method: x.server})
			}
			v := w.approval()
			ref, at := w.post(bridge.Destination{Channel: x.chat, Thread: x.topic}, v)
			menu := w.offers("ana", at, v)
			if private := slices.Contains(w.Sandbox.Person("ana").PrivatePlaces("telegram"), menu); private != x.private {
				t.Errorf("only the person sees it: %t", private)
			}
			if text := sandbox.Texts(w.Sandbox.Message(menu)); !strings.Contains(text, "may repeat exactly this request") {
				t.Errorf("the menu says %s", text)
			}
			w.inTopic(w.Sandbox.Message(menu), x.topic)
			again := w.offers("ana", at, v) // replaces the first
			w.gone(menu)

			settled := bridge.Verdict{Kind: bridge.VerdictSettled, Note: "recorded"}
			w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return settled, nil })
			if r, err := w.Sandbox.Person("ana").Press(t.Context(), again, render.LabelSession); err != nil || r.Toast != "recorded" {
				t.Fatal(r, err)
			}
			w.gone(again)
			clicks := w.sink.Clicks()
			if c := clicks[len(clicks)-1]; c.Ref != ref || !bridge.PeekStated(c.Token) {
				t.Errorf("the decision is on %+v, want the card %+v", c.Ref, ref)
			}
			w.replaced(at, v)
			w.closed(at, ref, v)
		})
	}
}

// replaced checks that another choice removes the menu, and that its prompt
// belongs to the card.
func (w world) replaced(at sandbox.Place, v bridge.View) {
	w.T.Helper()
	menu := w.offers("ana", at, v)
	n := slices.Index(v.Record.Interaction.Decisions(), bridge.DecideDenyReason)
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{Action: bridge.ActionInput, Question: n, Option: bridge.OptionReason}}, nil)
	if r, err := w.Sandbox.Person("ana").Press(w.Ctx, menu, render.LabelDenyReason); err != nil || !r.OK {
		w.T.Fatal(r, err)
	}
	w.gone(menu)
	w.Eventually("the prompt is posted", func() bool { return len(w.prompts(at.Channel)) == 1 })
}

// closed checks that the menu is removed with the last controls of the card.
func (w world) closed(at sandbox.Place, ref bridge.MessageRef, v bridge.View) {
	w.T.Helper()
	menu := w.offers("bo", at, v)
	v.Record.State, v.Record.Revision = bridge.StateExpired, 2
	v.Record.Response = &bridge.Response{State: bridge.StateExpired}
	if err := w.p.Update(w.Ctx, ref, v, nil); err != nil {
		w.T.Fatal(err)
	}
	w.gone(menu)
	if n := len(w.prompts(at.Channel)); n != 0 {
		w.T.Errorf("%d prompts are left", n)
	}
}

// TestMenuRefused checks that a menu stays after a decision that was refused, and
// that the card is not drawn into it.
func TestMenuRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.approval()
	_, at := w.post(bridge.Destination{Channel: group}, v)
	menu := w.offers("ana", at, v)
	before := sandbox.Texts(w.Sandbox.Message(menu))
	w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "the rules changed", View: &v}, nil
	})
	if r, err := w.Sandbox.Person("ana").Press(t.Context(), menu, render.LabelSession); err != nil || r.Toast != "the rules changed" || !r.Alert {
		t.Fatal(r, err)
	}
	if after := sandbox.Texts(w.Sandbox.Message(menu)); after != before {
		t.Errorf("the menu says %q", after)
	}
}

// TestAlertTimes checks that an alert, which cannot show the reader's time zone,
// says how far away a time is.
func TestAlertTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.approval()
	_, at := w.post(bridge.Destination{Channel: group}, v)
	w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictLate, Note: "Expired at " + render.WhenExact(time.Now().Add(-time.Hour)) + "."}, nil
	})
	if r, err := w.Sandbox.Person("ana").Press(t.Context(), at, render.LabelDeny); err != nil || r.Toast != "Expired 1 h ago." || !r.Alert {
		t.Fatal(r, err)
	}
}

// TestLateAlert checks that a person whose click Telegram no longer lets nod answer
// reads the note in a message.
func TestLateAlert(t *testing.T) {
	t.Parallel()
	for _, chat := range []string{group, "7001"} {
		w := newWorld(t)
		_, at := w.post(bridge.Destination{Channel: chat}, w.approval())
		w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
			return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "You may not answer this."}, nil
		})
		w.Fault(sandbox.Fault{
			Method: "answerCallbackQuery", Kind: "error", Count: 1,
			Error: "400 Bad Request: query is too old and response timeout expired or query ID is invalid",
		})
		go func() { _, _ = w.Sandbox.Person("ana").Press(w.Ctx, at, render.LabelDeny) }() // the button keeps loading
		w.Eventually("ana reads it in "+chat, func() bool {
			read := w.Sandbox.Person("ana").Notes("telegram") // in the group
			for _, m := range w.messages("7001") {
				read = append(read, sandbox.Texts(m))
			}
			return slices.ContainsFunc(read, func(note string) bool { return strings.Contains(note, "You may not answer this.") })
		})
	}
}
