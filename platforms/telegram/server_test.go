package telegram_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render/rendertest"
)

// versions are servers of the Bot API that differ in what they understand. The
// last one understands everything.
var versions = []string{"6.9", "7.4", "7.11", "9.4", "9.5", "10.2", "10.3"}

func (w world) server(version string) {
	w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Kind: "old_server", Method: version})
}

// messages returns the messages of a chat.
func (w world) messages(chat string) []map[string]any { return w.Hands.Messages("telegram", chat) }

// TestTriedOnce checks that nod tries each feature once on an old server.
func TestTriedOnce(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
	t.Cleanup(s.Close)
	s.AddFault(sandbox.Fault{Service: "telegram", Kind: "old_server", Method: "6.9"})
	var calls atomic.Int32
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		s.ServeHTTP(w, r)
	}))
	for _, sample := range rendertest.Samples() {
		switch sample.Name {
		case "approval":
		case "select": // with more options than a page holds
			q := &sample.View.Record.Interaction.Questions[0]
			for n := range 20 {
				q.Options = append(q.Options, bridge.Option{Value: fmt.Sprint("more", n), Label: fmt.Sprint("More ", n)})
			}
		default:
			continue
		}
		for range 3 {
			if _, err := p.Post(t.Context(), bridge.Destination{Channel: group}, sample.View, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := calls.Load(); n != 6+3 { // disabled buttons, times, buttons that copy
		t.Errorf("%d calls for 6 cards", n)
	}
}

// TestEveryCardArrives checks that each card is posted and edited on servers of
// each version, with all of its text.
func TestEveryCardArrives(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.server(version)
			for _, s := range rendertest.Samples() {
				before := len(w.messages(group))
				ref, _ := w.post(bridge.Destination{Channel: group}, s.View)
				if err := w.p.Update(t.Context(), ref, s.View, s.View.Delivered()); err != nil {
					t.Errorf("%s: the edit: %v", s.Name, err)
				}
				sent := w.messages(group)[before:]
				if n := len(sent); n != 1 && !strings.Contains(s.Name, "long") {
					t.Errorf("%s: %d messages", s.Name, n)
				}
				w.mentionsTimes(sent[len(sent)-1], s, version)
			}
		})
	}
}

// mentionsTimes checks that the deadline of a card is there, and local where the
// server can do that.
func (w world) mentionsTimes(m map[string]any, s rendertest.Sample, version string) {
	w.T.Helper()
	text := sandbox.Texts(m)
	if s.View.Record.State == bridge.StatePending && s.View.Record.Interaction.Kind != bridge.KindNotice &&
		!strings.Contains(text, "Expires Nov 21, 14:05 UTC") {
		w.T.Errorf("%s: the deadline is missing: %s", s.Name, text)
	}
	local := strings.Contains(fmt.Sprint(m["entities"]), "date_time")
	able := version == "9.5" || version == "10.2" || version == "10.3"
	if strings.Contains(text, "Nov 21") && local != able {
		w.T.Errorf("%s: a local time is %t", s.Name, local)
	}
}

// TestPrivateNotes checks that a note that is too long for the answer to a click
// reaches the person who clicked, and no one else in the group.
func TestPrivateNotes(t *testing.T) {
	t.Parallel()
	secret := "only for bo. " + strings.Repeat("why ", 80) + "the end"
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.server(version)
			w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
				return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: secret}, nil
			})
			v := w.question("first")
			v.Record.Interaction.Questions = []bridge.Question{{
				ID: "q", Text: "Which?", Widget: bridge.WidgetButtons, Options: []bridge.Option{{Value: "a", Label: "This"}},
			}}
			_, at := w.post(bridge.Destination{Channel: group}, v)
			r, err := w.Sandbox.Person("bo").Press(t.Context(), at, "This")
			if err != nil || !r.OK {
				t.Fatal(r, err)
			}
			for _, m := range w.messages(group) {
				if strings.Contains(sandbox.Texts(m), "only for bo") {
					t.Errorf("everyone reads %v", m)
				}
			}
			whole := strings.Join(w.Sandbox.Person("bo").Notes("telegram"), "\n")
			for _, m := range w.messages("7002") {
				whole += sandbox.Texts(m)
			}
			if !strings.Contains(whole, "the end") || strings.Contains(strings.Join(w.Sandbox.Person("ana").Notes("telegram"), ""), "bo") {
				t.Errorf("bo reads %q", whole)
			}
			if version != "10.3" && (!r.Alert || !strings.HasPrefix(r.Toast, "only for bo")) {
				t.Errorf("the alert says %+v", r)
			}
		})
	}
}
