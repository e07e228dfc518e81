package engine_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

// part is a part of a test. Everything that it starts ends with it.
type part struct {
	testing.TB
	ends []func()
}

// Cleanup replaces that of the test.
func (p *part) Cleanup(f func()) { p.ends = append(p.ends, f) }

func (p *part) end() {
	for _, f := range slices.Backward(p.ends) {
		f()
	}
}

// inBubble runs a random test in fake time. Each run is a part of the test.
func inBubble(t *testing.T, run func(p *part, rt *rapid.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		all := &part{TB: t} // without a deadline, which fake time does not have
		defer all.end()
		rapid.Check(all, func(rt *rapid.T) {
			p := &part{TB: t}
			defer p.end()
			run(p, rt)
		})
	})
}

// drawing is one run of the model of cards.
type drawing struct {
	*world
	rt    *rapid.T
	id    bridge.ID
	calls sync.WaitGroup // that draw the outcome of clicks
}

// TestCardsConverge checks that in the end each card shows its record, and the draft
// of its form: whatever people decide and enter, on whichever state of a card, in
// whatever order the draws of clicks and jobs arrive, and whichever of them fail, take
// long, get lost or find the message deleted.
func TestCardsConverge(t *testing.T) {
	t.Parallel()
	inBubble(t, func(p *part, rt *rapid.T) {
		d := &drawing{world: newWorld(p, twoPlaces(rt)), rt: rt}
		d.chat.outcome = outcomes(rt)
		d.open()
		for range rapid.IntRange(2, 10).Draw(rt, "steps") {
			d.step()
		}
		d.calls.Wait()
		time.Sleep(3 * time.Minute) // longer than the longest pause between two tries
		d.look()
		time.Sleep(10 * time.Minute) // beyond the deadline
		d.look()
	})
}

// twoPlaces is a config whose requests are shown in two channels.
func twoPlaces(rt *rapid.T) setup {
	s := newSetup()
	r := routeTo("C1", "ana", "bo", "cy")
	r.Destinations = append(r.Destinations, bridge.Destination{Platform: "chat", Channel: "C2"})
	r.Quorum, r.DenyCounts = rapid.IntRange(1, 3).Draw(rt, "quorum"), rapid.Bool().Draw(rt, "denials count")
	s.routes["default"] = r
	return s
}

// outcomes returns the outcome of the calls of a run: the first of them may fail.
func outcomes(rt *rapid.T) func(bridge.MessageRef) outcome {
	limited := bridge.Errorf(bridge.CodeRateLimited, "slow down")
	limited.RetryAfter = 3 * time.Second
	errs := []error{nil, nil, nil, nil, bridge.Errorf(bridge.CodeUnavailable, "no connection"), limited, bridge.ErrDeleted}
	var mu sync.Mutex
	left := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) outcome {
		return outcome{
			takes: time.Duration(rapid.IntRange(0, 3000).Draw(rt, "takes")) * time.Millisecond,
			err:   rapid.SampledFrom(errs).Draw(rt, "fails"), lost: rapid.Bool().Draw(rt, "lost"),
		}
	}), 0, 15).Draw(rt, "calls")
	return func(bridge.MessageRef) (next outcome) {
		mu.Lock()
		defer mu.Unlock()
		if len(left) > 0 {
			next, left = left[0], left[1:]
		}
		return next
	}
}

// open opens an approval or a form.
func (d *drawing) open() {
	r := shell("make x")
	if rapid.Bool().Draw(d.rt, "form") {
		r = bridge.Request{Ask: bridge.Ask{Prompt: "Which release?", Questions: []bridge.Question{versions, regions, note}, Timeout: r.Timeout}}
	}
	rec, err := d.engine.Open(d.t.Context(), bridge.Agent{Name: "ci"}, r, "")
	if err != nil {
		d.rt.Fatal(err)
	}
	d.id = rec.Interaction.ID
}

// step lets time pass, or a person click on the card that is shown then.
func (d *drawing) step() {
	time.Sleep(time.Duration(rapid.SampledFrom([]int{0, 1, 200, 1000, 5000}).Draw(d.rt, "pause")) * time.Millisecond)
	who := rapid.SampledFrom([]string{"ana", "bo", "cy", "di"}).Draw(d.rt, "who")
	channel := rapid.SampledFrom([]string{"C1", "C2"}).Draw(d.rt, "channel")
	control := rapid.IntRange(0, 1).Draw(d.rt, "control")
	v, ok := d.chat.card(channel, d.id)
	if !ok {
		return
	}
	i := v.Record.Interaction
	token := v.Token(bridge.ActionChoose, 0, control)
	if i.Kind == bridge.KindApproval {
		of := slices.Index(i.Decisions(), []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny}[control])
		token = v.Token(i.DecisionControl(of))
	}
	ref := v.Record.Messages[v.Destination]
	if at := d.get(d.id).Messages[v.Destination]; at.Message != "" {
		ref = at
	}
	said, err := d.engine.Click(d.t.Context(), bridge.Click{Token: token, Ref: ref, Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who}})
	if err != nil {
		d.rt.Fatal(err)
	}
	if said.View != nil && ref.Message != "" {
		d.calls.Go(func() {
			failed := d.chat.Update(d.t.Context(), ref, *said.View, nil)
			if err := d.engine.Drawn(d.t.Context(), *said.View, failed); err != nil {
				d.t.Error(err)
			}
		})
	}
}

// look compares each card with the record.
func (d *drawing) look() {
	rec := d.get(d.id)
	for n := range rec.Interaction.Destinations {
		ref := rec.Messages[n]
		at := ref.Channel + " " + ref.Message
		d.chat.mu.Lock()
		v, shown := d.chat.cards[at]
		gone := d.chat.gone[at]
		d.chat.mu.Unlock()
		if rec.Failures[n] != "" || (gone || ref.Message == "") && rec.State.Final() {
			continue // a request that is over gets no new card
		}
		_, draft, err := engine.NewDrafts(d.store.Documents()).Draft(d.t.Context(), d.id, n, bridge.Actor{})
		if err != nil {
			d.rt.Fatal(err)
		}
		if rec.State.Final() {
			draft = nil
		}
		if !shown || v.Record.Revision != rec.Revision || v.Record.State != rec.State || !draft.Same(v.Draft) {
			d.rt.Fatalf("the card %q (shown: %t, gone: %t) shows revision %d, %s with the draft %+v; want revision %d, %s with %+v",
				at, shown, gone, v.Record.Revision, v.Record.State, v.Draft, rec.Revision, rec.State, draft)
		}
	}
}
