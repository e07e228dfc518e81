package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// say types a command in channel C1, and returns the reply.
func (w *world) say(who, text string) string {
	w.t.Helper()
	said, err := w.engine.Command(w.t.Context(), bridge.Command{
		Actor:    bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
		Channels: []string{"C1"}, Text: text,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return said
}

// TestSnoozeAndHandOver checks that a person is reminded later, and that
// another person is asked as well.
func TestSnoozeAndHandOver(t *testing.T) {
	t.Parallel()
	s := newSetup()
	route := s.routes["default"]
	route.Snooze, route.HandOver = time.Hour, []string{"cy", "di"}
	s.routes["default"] = route
	w := newWorld(t, s)
	id := w.asked(func(r *bridge.Request) { r.Requester = "di" }, confirm).Interaction.ID
	if v := w.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictNoted || len(w.get(id).Reminders) != 1 {
		t.Errorf("snooze: %+v", v)
	}
	var clicks sync.WaitGroup
	for range 5 { // repeated clicks
		clicks.Go(func() { w.use("ana", id, bridge.ActionSnooze, 0, 0, nil) })
	}
	clicks.Wait()
	if v := w.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictNoted || len(w.get(id).Reminders) != 1 {
		t.Errorf("%d reminders after repeated clicks: %+v", len(w.get(id).Reminders), v)
	}
	if w.use("bo", id, bridge.ActionSnooze, 0, 0, nil); len(w.get(id).Reminders) != 2 {
		t.Errorf("%d reminders of two people", len(w.get(id).Reminders))
	}
	if v := w.use("cy", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictForbidden {
		t.Fatalf("cy answers before: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 1, nil); v.Kind != bridge.VerdictForbidden {
		t.Errorf("a hand-over to the requester: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 5, nil); v.Kind != bridge.VerdictUnknown {
		t.Errorf("a delegation to no one: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 0, nil); v.Kind != bridge.VerdictNoted {
		t.Fatalf("delegate: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 0, nil); !strings.Contains(v.Note, "already asked") {
		t.Errorf("delegate again: %+v", v)
	}
	if rec := w.get(id); len(rec.Reminders) != 3 || len(rec.Interaction.Added) != 1 {
		t.Errorf("cy was mentioned again: %+v", rec.Reminders)
	}
	if v := w.use("cy", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
		t.Errorf("cy answers: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictLate {
		t.Errorf("snooze of what is answered: %+v", v)
	}
	plain := newWorld(t, newSetup())
	id = plain.asked(nil, confirm).Interaction.ID
	if v := plain.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictUnknown {
		t.Errorf("snooze where it is not offered: %+v", v)
	}
}

// TestCommands checks the replies to commands in a channel.
func TestCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	if said := w.say("ana", "mine"); said != "You have no pending requests." {
		t.Errorf("mine: %s", said)
	}
	id := w.asked(nil, confirm).Interaction.ID
	for text, want := range map[string]string{
		"mine": "Which release?", "pending": "Which release?", "show " + string(id): "Which release?", "show x": "Request not found",
		"grants": "There are no grants.", "revoke x": "Grant not found", "help": "pending:", "": "pending:",
		"link abc": "Account linking is off.", "who": "You can answer requests here.",
	} {
		if said := w.say("ana", text); !strings.Contains(said, want) {
			t.Errorf("%q: %s", text, said)
		}
	}
	for text, want := range map[string]string{
		"mine": "no pending requests", "pending": "Only responders", "show " + string(id): "Request not found", "grants": "Only responders",
		"who": "You cannot answer requests here.",
	} {
		if said := w.say("eve", text); !strings.Contains(said, want) {
			t.Errorf("eve's %q: %s", text, said)
		}
	}
	w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
	if said := w.say("ana", "show "+string(id)); !strings.Contains(said, "by ana on chat") {
		t.Errorf("show, after the answer: %s", said)
	}
	made := w.open(bridge.Agent{Name: "ci"}, shell("make deploy")).Interaction.ID
	w.drawn(made, "C1")
	if said := w.say("ana", "pending"); !strings.Contains(said, "Run make deploy? (ci, 10 min left) https://chat.example/C1/") {
		t.Errorf("pending, with a card: %s", said)
	}
	w.say("ana", "cancel "+string(made))
	all, more, err := w.engine.Pending(t.Context(), 5, func(r bridge.Record) (bool, error) {
		return w.engine.People.MayAnswer(t.Context(), r.Interaction, onAPI("ana")), nil
	})
	if err != nil || len(all.Items) != 0 || more {
		t.Errorf("%d wait for ana: %v", len(all.Items), err)
	}
}

// TestLinking checks that a click or a text of an unknown account counts once its
// person has entered the code, at any time while it is valid, and that the link can be
// removed.
func TestLinking(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.linking, s.linked, s.signer = true, true, newSigner(t)
	w := newWorld(t, s)
	id := w.asked(nil, confirm).Interaction.ID
	c := w.control("ana", id, bridge.ActionChoose, 0, 0, nil)
	c.Actor = bridge.Actor{Platform: "chat", User: "U-new", Name: "Ana's phone"}
	c.At = time.Now().UTC()
	v, err := w.engine.Click(t.Context(), c)
	_, after, ok := strings.Cut(v.Note, "/nod link ")
	if err != nil || v.Kind != bridge.VerdictForbidden || !ok {
		t.Fatalf("an unknown account: %+v, %v", v, err)
	}
	code, _, _ := strings.Cut(after, " ")
	who, err := w.engine.Command(t.Context(), bridge.Command{Actor: c.Actor, Text: "who"})
	if err != nil || !strings.Contains(who, "click a button on a card") {
		t.Errorf("an unknown account reads %q, %v", who, err)
	}
	if said := w.say("ana", "link wrong"); !strings.Contains(said, "code not found") {
		t.Errorf("a wrong code: %s", said)
	}
	if _, err := w.engine.Links.Link(t.Context(), bridge.Actor{Platform: "chat", User: "U-eve"}, code, true); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a person that nod does not know: %v", err)
	}
	if said := w.say("ana", "link "+code); !strings.Contains(said, "answers as you, ana") || w.get(id).State.Final() {
		t.Fatalf("before it is confirmed: %s", said)
	}
	notes := documents.NewNotes(w.store.Documents())
	kept := stored.Must[string](t)(notes.Note(t.Context(), "link:"+code))
	kept = strings.ReplaceAll(kept, c.At.Format(time.RFC3339Nano), c.At.Add(-9*time.Minute).Format(time.RFC3339Nano)) // nine minutes later
	stored.NoError(t, notes.SetNote(t.Context(), "link:"+code, kept, time.Minute))
	if said := w.say("ana", "link "+code+" yes"); !strings.Contains(said, "Linked") {
		t.Fatalf("linked: %s", said)
	}
	w.state(id, bridge.StateAnswered)
	if said := w.say("ana", "link "+code+" yes"); !strings.Contains(said, "code not found") {
		t.Errorf("the same code again: %s", said)
	}
	links, err := w.engine.Links.List(t.Context())
	if err != nil || len(links.Items) != 1 || links.Items[0].Person != "ana" {
		t.Fatalf("the links are %+v, %v", links, err)
	}
	for _, want := range []bridge.Code{"", bridge.CodeNotFound} {
		if err := w.engine.Links.Unlink(t.Context(), onAPI("ana"), "chat", "U-new"); bridge.ErrorCode(err) != want {
			t.Errorf("unlink: %v; want %q", err, want)
		}
	}
}

// rereads is a database in which something happens after the first read of a linking code.
type rereads struct {
	broker.Store
	first func()
}

func (r *rereads) Get(ctx context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	docs, err := r.Store.Get(ctx, keys...)
	if f := r.first; f != nil && strings.HasPrefix(keys[0].ID, "link:") {
		r.first = nil
		f()
	}
	return docs, err
}

// TestLinkedOnce checks that a code which two people enter at the same time links the
// account to one of them, and that the other one is told that it does not.
func TestLinkedOnce(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.linking = true
	w := newWorld(t, s)
	c := w.control("ana", w.asked(nil, confirm).Interaction.ID, bridge.ActionChoose, 0, 0, nil)
	c.Actor = bridge.Actor{Platform: "chat", User: "U-new"}
	v, err := w.engine.Click(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(v.Note, "/nod link ")
	code, _, _ := strings.Cut(after, " ")
	w.store.DB = &rereads{w.store.DB, func() {
		if said := w.say("ana", "link "+code+" yes"); !strings.Contains(said, "Linked") {
			t.Errorf("ana is told: %s", said)
		}
	}}
	w.reload(s)
	if said := w.say("bo", "link "+code+" yes"); !strings.Contains(said, "code not found") {
		t.Errorf("bo is told: %s", said)
	}
	if links, err := w.engine.Links.List(t.Context()); err != nil || len(links.Items) != 1 || links.Items[0].Person != "ana" {
		t.Errorf("the links are %+v, %v", links, err)
	}
}

// TestTimeoutAfterMoreAsked checks that the outcome of a timeout verifies although
// more people were asked since the request was opened.
func TestTimeoutAfterMoreAsked(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	route := s.routes["default"]
	route.HandOver = []string{"cy"}
	s.routes["default"] = route
	w := newWorld(t, s)
	r := shell("make x")
	r.OnTimeout = bridge.OnTimeoutDeny
	id := w.open(agentCI, r).Interaction.ID
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 0, nil); v.Kind != bridge.VerdictNoted {
		t.Fatalf("delegate: %+v", v)
	}
	w.pass(2 * time.Duration(r.Timeout))
	w.eventually("it is over", func() bool { return w.get(id).State.Final() })
	if got, err := w.engine.Get(t.Context(), id); err != nil || got.State != bridge.StateDenied {
		t.Errorf("it is %s, %v", got.State, err)
	}
}

// TestRequesterSpelled checks that no spelling of the requester lets them approve
// their own request, and that a request of someone unknown is refused, or marked if
// the config allows it.
func TestRequesterSpelled(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.people["ana"] = directory.Person{Accounts: s.people["ana"].Accounts, Email: "ana@example.com", Name: "Ana Ruiz"}
	w := newWorld(t, s)
	for _, name := range []string{"ana", "Ana", "@ana", "ana ", "U-ana", "chat:U-ana", "<@U-ana>", "ana@example.com", "Ana Ruiz"} {
		r := shell("make x")
		r.Requester = name
		rec := w.open(agentCI, r)
		want, err := proof.DigestAsSent(r.Ask)
		if i := rec.Interaction; err != nil || i.Requester != "ana" || i.Digest != want || i.NameOf("ana") != "Ana Ruiz" {
			t.Errorf("%q: requester %q, names %v, digest %s, %v", name, i.Requester, i.Names, i.Digest, err)
		}
		w.said(w.press("ana", rec.Interaction.ID, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "your own request")
	}
	r := shell("make x")
	r.Requester = "eva"
	if _, err := w.engine.Open(t.Context(), agentCI, r, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("an unknown requester: %v", err)
	}
	s.strangers = true
	w.reload(s)
	if i := w.open(agentCI, r).Interaction; !i.Stranger || i.Requester != "eva" {
		t.Errorf("an unknown requester, allowed: %+v", i.Placement)
	}
}
