package life_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
)

// retention is short, so that what is kept for too short a time is gone.
const retention = time.Hour

// world is a store with interactions on which random transitions happen.
type world struct {
	*rapid.T
	db   *memory.Store
	now  time.Time
	ids  []bridge.ID
	late map[bridge.ID]*life.Docs // documents as someone has read them before
	ends map[bridge.ID]bridge.Response
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: time.UnixMilli(1_800_000_000_000).UTC(), late: map[bridge.ID]*life.Docs{}, ends: map[bridge.ID]bridge.Response{}}
	w.db = memory.NewAt(broker.NewSeals([]byte("key")), func() time.Time { return w.now })
	return w
}

// chance reports true with a probability of one in n.
func (w *world) chance(n int) bool { return rapid.IntRange(1, n).Draw(w.T, "chance") == 1 }

func (w *world) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(w.T, label) }

// read reads the documents of an interaction.
func (w *world) read(id bridge.ID) (*life.Docs, bool) {
	found, err := w.db.Get(context.Background(), life.Keys(id)...)
	if err != nil {
		w.Fatal(err)
	}
	d, err := life.Read(id, found)
	if err != nil {
		if bridge.ErrorCode(err) != bridge.CodeNotFound {
			w.Fatal(err)
		}
		return d, false
	}
	if more := d.More(); len(more) > 0 {
		rest, err := w.db.Get(context.Background(), more...)
		if err = errors.Join(err, d.Add(rest)); err != nil {
			w.Fatal(err)
		}
	}
	return d, true
}

func expired() bridge.Response {
	return bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}
}

// opening returns a random opening.
func (w *world) opening() *life.Opening {
	id, err := bridge.NewID()
	if err != nil {
		w.Fatal(err)
	}
	i := bridge.Interaction{
		ID: id, Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "Deploy?", Approval: &bridge.Approval{Tool: "bash"}},
		Schedule: bridge.Schedule{Created: w.now, Deadline: w.now.Add(time.Duration(1+w.pick("timeout", 100)) * time.Minute)},
	}
	for n := range w.pick("destinations", 5) {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: fmt.Sprint("C", n)})
	}
	if w.chance(2) {
		i.Session = "s"
	}
	if w.chance(2) {
		i.Quorum, i.DenyCounts = 1+w.pick("quorum", 3), w.chance(2)
	}
	for range w.pick("steps", 3) {
		i.Steps = append(i.Steps, bridge.Step{After: bridge.Duration(time.Duration(1+w.pick("after", 30)) * time.Minute), Remind: true})
	}
	if w.chance(3) {
		i.Webhooks = []string{"w"}
	}
	o := &life.Opening{
		Interaction: i, Node: "n", MaxPending: 3 * w.pick("limited", 2), FrontEnds: w.chance(3),
		Superseded: bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}},
	}
	switch {
	case w.chance(6):
		o.Interaction.OnTimeout, o.Interaction.Hold = bridge.OnTimeoutPending, bridge.Duration(time.Duration(1+w.pick("hold", 100))*time.Minute)
	case w.chance(8):
		o.Response = &bridge.Response{State: bridge.StateDenied, Annotations: map[string]bridge.Annotation{}}
	}
	return o
}

// open opens an interaction, which may follow another one.
func (w *world) open() {
	o := w.opening()
	if len(w.ids) > 0 && w.chance(3) {
		prev, ok := w.read(w.ids[w.pick("previous", len(w.ids))])
		if !ok || prev.Life.Next != "" {
			return
		}
		o.Interaction.Previous, o.Previous = prev.ID, prev
		if w.chance(2) { // the follow-up takes over the messages
			o.Interaction.Destinations = prev.Body.Destinations
			if o.Interaction.Root = prev.Body.Root; o.Interaction.Root == "" {
				o.Interaction.Root = prev.ID
			}
			root, ok := w.read(o.Interaction.Root)
			if !ok {
				w.Fatalf("round %s lives, but its root %s does not", prev.ID, o.Interaction.Root)
			}
			o.Root = root
		}
	}
	out, err := life.Open(o, w.now, retention)
	if err != nil {
		w.Fatal(err)
	}
	c, err := out.Changes()
	if err != nil {
		w.Fatal(err)
	}
	if first := o.Previous == nil && o.Response == nil; c.Urgent == first {
		w.Fatalf("a database without memory takes a new question: %v", c.Urgent)
	}
	w.ids = append(w.ids, o.Interaction.ID)
	w.apply(c)
}

// actor returns one of a few people. Some of them have two accounts.
func (w *world) actor() bridge.Actor {
	n := w.pick("actor", 6)
	a := bridge.Actor{Platform: "chat", User: fmt.Sprint("U", n)}
	if n < 4 {
		a.Person = fmt.Sprint("p", n/2)
	}
	return a
}

// turn makes a random transition of one interaction, based on the current
// documents, or on those that someone read earlier.
func (w *world) turn() {
	if len(w.ids) == 0 {
		return
	}
	id := w.ids[w.pick("id", len(w.ids))]
	d, ok := w.read(id)
	if !ok {
		return
	}
	stale := false
	if was, ok := w.late[id]; ok && w.chance(3) {
		stale = was.LifeDoc.Version != d.LifeDoc.Version
		d = was
	}
	w.late[id] = d
	now := w.now.Add(-time.Duration(w.pick("behind", 3)) * time.Millisecond) // the clock of the daemon
	t := d.Begin(now, retention)
	name := w.rule(t)
	if name == "refresh" && t.Life.Revision == d.Life.Revision {
		w.Fatalf("%s is refreshed, but a message that is being posted does not notice", id)
	}
	c, err := t.Change()
	if err != nil {
		w.Fatal(err)
	}
	if !c.Empty() && !c.Urgent {
		w.Fatalf("%s fails when the database is out of memory", name)
	}
	writes := false
	for _, p := range c.Put {
		writes = writes || p.Key == life.Key(id)
	}
	err = w.apply(c)
	if stale && writes && err == nil {
		w.Fatalf("%s: a change by older documents was stored", name)
	}
}

// rule applies a random rule.
func (w *world) rule(t *life.Turn) string {
	at := func() int { return w.pick("destination", max(1, len(t.Body.Destinations))) }
	actor := w.actor()
	resp := bridge.Response{State: []bridge.State{bridge.StateApproved, bridge.StateDenied}[w.pick("state", 2)], Actor: &actor, Annotations: map[string]bridge.Annotation{}}
	nonce := fmt.Sprint(w.pick("nonce", 1000))
	here := len(t.Body.Destinations) > 0
	ref := bridge.MessageRef{Channel: "C", Message: fmt.Sprint(w.pick("message", 3))}
	marks := map[string]life.Mark{
		"queued":    life.Deferred{Hold: time.Duration(1+w.pick("hold", 100)) * time.Minute},
		"completed": life.Completed{Completion: bridge.Completion{Result: "x"}},
		"refresh":   life.Refresh{}, "amended": w.amendment(t),
	}
	if here {
		n := at()
		marks["posted"] = life.Posted{Destination: n, Ref: ref, Revision: t.Life.Revision - int64(w.pick("behind", 2)), Content: "c", Look: time.Hour}
		marks["failed"] = life.Failed{Destination: n, Reason: "gone", Later: w.chance(4)}
		marks["late"] = life.Late{Destination: n, Delay: time.Minute}
		marks["redraw"] = life.Redraw{Destination: n}
		marks["part"] = life.Part{Destination: n, Content: "c", N: w.pick("part", 2), Ref: ref}
		marks["shown"] = life.Shown{Destination: n, Content: "c"}
		marks["deleted"] = life.Deleted{Failed: life.Failed{Destination: n, Reason: "deleted"}, Ref: ref, Again: w.chance(2)}
	}
	rules := map[string]func(){
		"resolve": func() { t.Resolve(life.Resolution{ID: t.ID, Nonce: nonce, Response: resp}) },
		"vote": func() {
			t.Vote(life.Ballot{ID: t.ID, Nonce: nonce, Response: resp, Vote: bridge.Vote{Actor: actor, State: resp.State, At: w.now}})
		},
		"join":   func() { t.Join(life.Caller{Name: "c"}, w.chance(2)) },
		"expire": func() { t.Expire() }, "send": func() { t.Send() }, "take": func() { t.Take("c") }, "leave": func() {
			t.Leave(life.Caller{Name: "c", Node: "n"}, w.chance(2), w.chance(2), bridge.Response{State: bridge.StateCancelled})
		},
		"deliver": func() {
			if t.Life.State.Final() {
				t.Deliver()
			}
		},
	}
	var names []string
	for name := range marks {
		names = append(names, name)
	}
	for name := range rules {
		names = append(names, name, name)
	}
	name := rapid.SampledFrom(sorted(names)).Draw(w.T, "rule")
	if f := rules[name]; f != nil {
		f()
	} else {
		t.Mark(marks[name])
	}
	return name
}

func sorted(names []string) []string {
	for n := range names {
		for k := n; k > 0 && names[k] < names[k-1]; k-- {
			names[k], names[k-1] = names[k-1], names[k]
		}
	}
	return names
}

// amendment returns a random amendment.
func (w *world) amendment(t *life.Turn) life.Amendment {
	a := life.Amendment{Expect: len(t.Life.Amendments) - w.pick("older", 2), Interaction: t.Body, Wider: w.chance(2)}
	a.Interaction.Terms++
	if w.chance(2) {
		a.Void = []string{"p0"}
	}
	if w.chance(2) {
		a.Then = &life.NextStep{Index: w.pick("step", len(t.Body.Steps)+1), In: time.Duration(w.pick("in", 10)) * time.Minute}
	}
	if w.chance(2) && len(t.Body.Destinations) > 0 {
		a.Reminders, a.Delay = []bridge.Reminder{{Text: "x"}}, time.Minute
	}
	return a
}

// apply stores a change, and checks what always holds.
func (w *world) apply(c broker.Change) error {
	before := map[bridge.ID]*life.Docs{}
	for _, id := range w.ids {
		if d, ok := w.read(id); ok {
			before[id] = d
		}
	}
	if c.Empty() {
		return nil
	}
	done, err := w.db.Do(context.Background(), c)
	if err != nil {
		_, stale := errors.AsType[*broker.Stale](err)
		_, untimely := errors.AsType[broker.Untimely](err)
		if _, full := errors.AsType[broker.Full](err); !stale && !untimely && !full {
			w.Fatal(err)
		}
		return err
	}
	for _, id := range w.ids {
		if after, ok := w.read(id); ok {
			was := before[id]
			if was == nil {
				was = &life.Docs{}
			}
			w.check(id, was, after, c, done)
		} else if before[id] != nil {
			w.Fatalf("%s is gone", id)
		}
	}
	w.checkJobs(c)
	return nil
}

// check compares an interaction before and after a change.
func (w *world) check(id bridge.ID, was, is *life.Docs, c broker.Change, done broker.Done) {
	if is.Problem != "" {
		w.Fatalf("%s does not verify: %s", id, is.Problem)
	}
	end, ended := w.ends[id]
	decisions, votes := 0, 0
	for _, e := range c.Journal {
		switch {
		case e.Get("i") != string(id):
		case e.Get("t") == string(bridge.EventResponse):
			decisions++
		case e.Get("t") == string(bridge.EventVoted):
			votes++
		}
	}
	switch {
	case ended:
		if d := cmp.Diff(&end, is.Life.Response); d != "" || decisions > 0 {
			w.Fatalf("%s has ended, and changes by %d decisions: %s", id, decisions, d)
		}
	case is.Life.State != "":
		if decisions != 1 || is.Life.Response == nil || is.Life.Response.State != is.Life.State || is.Life.Nonce == "" || !c.Urgent || !c.Replicated || is.LifeDoc.Entry == "" {
			w.Fatalf("%s ends by %d decisions: %+v", id, decisions, is.Life)
		}
		if person := is.Life.Response.Actor != nil; person && was.ID != "" && !w.now.Before(is.Life.Deadline) || is.Life.Nonce == "timeout" && w.now.Before(is.Life.Deadline) {
			w.Fatalf("%s ends at %s, and its deadline is %s: %+v", id, w.now, is.Life.Deadline, is.Life.Response)
		}
		if n := is.Life.Step; n < len(is.Body.Steps) && !strings.Contains(fmt.Sprint(c.Withdraw), fmt.Sprintf("step:%s:%d", id, n)) && was.ID != "" {
			w.Fatalf("%s ends, and its step %d stays: %v", id, n, c.Withdraw)
		}
		w.ends[id] = *is.Life.Response
	default:
		if decisions > 0 {
			w.Fatalf("%s is pending after %d decisions", id, decisions)
		}
	}
	if deferred := was.ID != "" && !is.Life.Deadline.Equal(was.Life.Deadline); (deferred || votes > 0) && (!c.Urgent || !c.Replicated) {
		w.Fatalf("%s is deferred: %v, and has %d new votes, but not like a decision: urgent %v, kept %v", id, deferred, votes, c.Urgent, c.Replicated)
	}
	w.checkIndexes(id, is)
	for n, v := range is.Life.Votes {
		for _, o := range is.Life.Votes[:n] {
			if v.SameVoter(o) {
				w.Fatalf("%s counts %+v twice", id, v.Actor)
			}
		}
	}
	w.checkShown(id, was, is, c)
	if done.At.IsZero() {
		w.Fatal("a change has no time")
	}
}

// checkIndexes checks that the indexes have what is pending, and every interaction
// of a session.
func (w *world) checkIndexes(id bridge.ID, is *life.Docs) {
	limited := life.PendingIndex(is.Life.Agent)
	indexes := map[string]bool{life.Deadlines: is.Life.State == "", limited: is.Life.State == "" && is.Life.Limited}
	if s := is.Body.Session; s != "" {
		indexes[life.SessionIndex(is.Life.Agent, s)] = true
		indexes[life.SessionPending(is.Life.Agent, s)] = is.Life.State == ""
	}
	for index, want := range indexes {
		all, err := w.db.Range(context.Background(), broker.Query{Index: index})
		if err != nil {
			w.Fatal(err)
		}
		if index == limited && len(all) > 3 {
			w.Fatalf("%d are pending", len(all))
		}
		has := false
		for _, m := range all {
			has = has || m.Name == string(id) && (index != life.Deadlines || m.At.Equal(is.Life.Deadline))
		}
		if has != want {
			w.Fatalf("%s is %q, and in %q: %v", id, is.Life.State, index, has)
		}
	}
	var want, has []bridge.MessageRef
	for n := range is.Body.Destinations {
		if ref := is.Cards[n].Message; ref != nil && is.Life.State == "" {
			want = append(want, *ref)
		}
	}
	all, err := w.db.Range(context.Background(), broker.Query{Index: life.CardIndex("chat")})
	for _, m := range all {
		if of, ref := life.ParseCard(m.Name); of == id {
			has = append(has, ref)
		}
	}
	byMessage := cmpopts.SortSlices(func(a, b bridge.MessageRef) bool { return a.Message < b.Message })
	if d := cmp.Diff(want, has, byMessage, cmpopts.EquateEmpty()); d != "" || err != nil {
		w.Fatalf("%s is %q, and the index has these cards: %s, %v", id, is.Life.State, d, err)
	}
}

// checkShown checks that people see what has changed: there is an entry in the journal
// or another revision, always a revision for what a message shows of a pending request,
// and an edit of each message for a revision.
func (w *world) checkShown(id bridge.ID, was, is *life.Docs, c broker.Change) {
	noted := false
	for _, e := range c.Journal {
		noted = noted || e.Get("i") == string(id)
	}
	if is.Life.Revision < was.Life.Revision {
		w.Fatalf("%s goes back to revision %d", id, is.Life.Revision)
	}
	if is.Life.Revision == was.Life.Revision {
		l, o := is.Life, was.Life
		same := cmp.Equal([]any{l.State, l.Response, l.Votes, l.Queued, l.Deadline, l.Completion, l.Joined, l.Amendments, l.Delivered, l.Failures, is.Body},
			[]any{o.State, o.Response, o.Votes, o.Queued, o.Deadline, o.Completion, o.Joined, o.Amendments, o.Delivered, o.Failures, was.Body})
		drawn := cmp.Equal([]any{l.Votes, l.Queued, l.Completion, l.Joined, l.Amendments}, []any{o.Votes, o.Queued, o.Completion, o.Joined, o.Amendments})
		if !same && !noted || !drawn {
			w.Fatalf("%s changes without an entry or another revision: %s", id, cmp.Diff(o, l))
		}
		return
	}
	if was.ID == "" {
		return // the request was opened
	}
	root := is.Life.Root
	if root == "" {
		root = id
	}
	for n, card := range is.Cards {
		if card.Message != nil && !strings.Contains(fmt.Sprint(c.Request), fmt.Sprintf("edit:%s:%d", root, n)) {
			w.Fatalf("%s has revision %d, and its message %d is not edited: %v", id, is.Life.Revision, n, c.Request)
		}
	}
}

// checkJobs checks that each job is of an interaction with documents, and that steps
// are due in time and only of what is pending.
func (w *world) checkJobs(c broker.Change) {
	for _, j := range c.Request {
		name, _ := j.Parts()
		kind, id, index, err := life.ParseJob(name)
		if err != nil {
			w.Fatal(err)
		}
		d, ok := w.read(id)
		if !ok {
			w.Fatalf("the job %s is of nothing", j.Name)
		}
		if kind == life.JobStep && (d.Life.State != "" && d.Life.Nonce != "open" || !j.Exact || index >= len(d.Body.Steps) || j.Due.Before(w.now.Add(-time.Second))) {
			w.Fatalf("the step %+v of %+v", j, d.Life)
		}
	}
}

// TestTransitions makes random transitions of some interactions, by clocks that differ
// and by documents that others have changed since, and checks what always holds.
func TestTransitions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.open()
		for range rapid.IntRange(5, 60).Draw(t, "transitions") {
			switch w.pick("what", 12) {
			case 0:
				w.open()
			case 1:
				w.now = w.now.Add(time.Duration(w.pick("pass", 5000)) * time.Millisecond)
			case 2:
				w.now = w.now.Add(time.Duration(w.pick("pass", 90)) * time.Minute)
			default:
				w.turn()
			}
			for _, id := range w.ids { // each record lives as long as it says
				doc, err := w.db.Get(context.Background(), life.Key(id))
				if err != nil {
					t.Fatal(err)
				}
				if d, ok := w.read(id); ok != doc[0].Exists() || ok && !d.Life.KeptUntil.After(w.now) && d.Life.KeptUntil.Before(w.now.Add(-time.Second)) {
					t.Fatalf("%s has a life: %v, and all documents: %v", id, doc[0].Exists(), ok)
				}
			}
		}
	})
}
