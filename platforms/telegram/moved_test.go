package telegram_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

var (
	small = strconv.FormatInt(sandbox.TelegramSmall, 10)
	grown = strconv.FormatInt(sandbox.TelegramGrown, 10)
)

// TestSupergroup checks that nod follows a basic group that becomes a
// supergroup, even after a restart, and that it reports the new ID.
func TestSupergroup(t *testing.T) {
	t.Parallel()
	s, notes := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()}), &platformtest.Memory{}
	t.Cleanup(s.Close)
	p := serveWith(t, s, notes)
	d := bridge.Destination{Channel: small}
	v := notice()
	old, err := p.Post(t.Context(), d, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Act(t.Context(), sandbox.Action{Service: "telegram", As: "ana", Do: "upgrade", Channel: small}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Post(t.Context(), d, v, nil); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("the first error is %v", err)
	}
	again := serveWith(t, s, notes)
	card, err := again.Post(t.Context(), d, v, nil)
	if err != nil || card.Channel != grown {
		t.Errorf("posted at %+v, %v", card, err)
	}
	if err := again.Remind(t.Context(), d, old, bridge.Reminder{Users: []string{"7001"}, Text: "waiting"}); err != nil {
		t.Errorf("a reminder: %v", err)
	}
	v.Record.State = bridge.StateAnswered
	if err := again.Update(t.Context(), old, v, nil); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("the update of a closed card: %v", err)
	}
	findings := again.Diagnose(t.Context(), bridge.Needs{Destinations: []bridge.Destination{d}})
	if !slices.ContainsFunc(findings, func(f bridge.Finding) bool {
		return f.Status == bridge.FindingWarning && strings.Contains(f.Fix, grown)
	}) {
		t.Errorf("doctor finds %+v", findings)
	}
}

// TestSupergroupUpdate checks that the update about a move is enough to follow
// it, and that commands in the supergroup are for the configured group too.
func TestSupergroupUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, a := range []sandbox.Action{{Do: "upgrade", Channel: small}, {Do: "send", Channel: grown, Text: "/nod mine"}} {
		a.Service, a.As = "telegram", "ana"
		if _, err := w.Sandbox.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.Eventually("nod remembers the supergroup", func() bool {
			to, err := w.Notes.Note(t.Context(), "moved:telegram:"+small)
			return err == nil && to == grown
		})
	}
	w.Eventually("the command arrives", func() bool { return len(w.sink.Commands()) > 0 })
	if got := w.sink.Commands()[0].Channels; !slices.Contains(got, small) || !slices.Contains(got, grown) {
		t.Errorf("the command is for %v", got)
	}
}

// TestSupergroupCard checks that the pending card of a basic group is posted
// once more in the supergroup, and that the copy works like the card.
func TestSupergroupCard(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"short": "deploy", "long": strings.Repeat("deploy ", 2000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v := w.question(text)
			parts := bridge.NewParts(nil, nil)
			old, err := w.p.Post(t.Context(), bridge.Destination{Channel: small}, v, parts)
			if err != nil {
				t.Fatal(err)
			}
			up := sandbox.Action{Service: "telegram", As: "ana", Do: "upgrade", Channel: small}
			if _, err := w.Sandbox.Act(t.Context(), up); err != nil {
				t.Fatal(err)
			}
			w.updates(old, v, parts, 2)
			if text != "deploy" && parts.Sent()[len(parts.Sent())-1].Channel != grown {
				t.Errorf("the file is at %+v", parts.Sent())
			}
			w.copyWorks(old, v)
			v.Record.State = bridge.StateExpired
			v.Record.Response = &bridge.Response{State: bridge.StateExpired, At: time.Now()}
			w.updates(old, v, parts, 1)
			if n := len(w.withControls(grown)); n != 0 {
				t.Errorf("%d closed cards have controls", n)
			}
		})
	}
}

// updates updates a card a number of times.
func (w world) updates(ref bridge.MessageRef, v bridge.View, parts *bridge.Parts, times int) {
	w.T.Helper()
	for range times {
		if err := w.p.Update(w.Ctx, ref, v, parts); err != nil {
			w.T.Fatal(err)
		}
	}
}

// copyWorks checks that a reminder replies to the copy of a card in the supergroup,
// and that a reply to its prompt counts for the card.
func (w world) copyWorks(card bridge.MessageRef, v bridge.View) {
	w.T.Helper()
	copies := w.withControls(grown)
	if len(copies) != 1 {
		w.T.Fatalf("%d cards in the supergroup", len(copies))
	}
	d := bridge.Destination{Channel: small}
	if err := w.p.Remind(w.Ctx, d, card, bridge.Reminder{Users: []string{"7001"}, Text: "waiting"}); err != nil {
		w.T.Error(err)
	}
	if got := w.repliesTo(grown); got != copies[0] {
		w.T.Errorf("the reminder replies to %q, want %q", got, copies[0])
	}
	at := sandbox.Place{Service: "telegram", Channel: grown, Message: copies[0]}
	prompt := w.asks("ana", at, v)
	reply := sandbox.Action{Service: "telegram", As: "ana", Do: "reply", Channel: grown, Text: "because",
		Message: strconv.Itoa(int(prompt["message_id"].(float64)))}
	if _, err := w.Sandbox.Act(w.Ctx, reply); err != nil {
		w.T.Fatal(err)
	}
	w.Eventually("the reply counts for the card", func() bool {
		all := w.sink.Clicks()
		return len(all) > 1 && all[len(all)-1].Ref == card
	})
	for _, c := range w.sink.Clicks() {
		if c.Ref != card {
			w.T.Errorf("a click is on %+v, want %+v", c.Ref, card)
		}
	}
}

// withControls returns the IDs of the messages of a chat that have controls.
func (w world) withControls(chat string) []string {
	var out []string
	for _, m := range w.messages(chat) {
		if len(sandbox.Controls("telegram", m)) > 0 {
			out = append(out, strconv.Itoa(int(m["message_id"].(float64))))
		}
	}
	return out
}

// repliesTo returns the ID of the message to which the newest message of a chat
// replies.
func (w world) repliesTo(chat string) string {
	all := w.messages(chat)
	to, _ := all[len(all)-1]["reply_to_message"].(map[string]any)
	id, _ := to["message_id"].(float64)
	return strconv.Itoa(int(id))
}

// TestMovedInOtherWords checks that nod follows a group whatever words the server has
// for its move: they differ between versions.
func TestMovedInOtherWords(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"Bad Request: group chat is migrated to a supergroup chat", "[Error]: Bad Request: group chat was migrated to a supergroup chat",
		"Bad Request: group chat was upgraded to a supergroup chat",
	} {
		notes := &platformtest.Memory{}
		p := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":%q,"parameters":{"migrate_to_chat_id":%s}}`, words, grown)
		}), notes)
		_, err := p.Post(t.Context(), bridge.Destination{Channel: small}, notice(), nil)
		to, nerr := notes.Note(t.Context(), "moved:telegram:"+small)
		if bridge.ErrorCode(err) != bridge.CodeUnavailable || nerr != nil || to != grown {
			t.Errorf("%s: %v, and nod remembers %q, %v", words, err, to, nerr)
		}
	}
}
