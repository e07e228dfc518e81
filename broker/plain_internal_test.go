package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// side is a broker on a server whose clock does not move, so that two sides that
// do the same store the same.
type side struct {
	*Broker
	server *miniredis.Miniredis
	client *redis.Client
	calls  *replies
}

// replies counts the replies of the scripts for the usual case.
type replies struct {
	of   map[string]string // name by hash
	seen map[string]int    // by name and whether it was slow
}

func (r *replies) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (r *replies) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (r *replies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, c := range cmds {
			if c, ok := c.(*redis.Cmd); ok && len(c.Args()) > 1 && r.of[fmt.Sprint(c.Args()[1])] != "" && c.Err() == nil {
				r.seen[fmt.Sprint(r.of[fmt.Sprint(c.Args()[1])], " ", c.Val() == slow)]++
			}
		}
		return err
	}
}

// quiet returns a broker with one partition that does nothing in the background,
// because that would write at any time.
func quiet(t *testing.T, c *redis.Client) *Broker {
	t.Helper()
	b, err := New(t.Context(), Options{Client: c, Node: "n", Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); c.Close() })
	b.hub.cancel()
	b.hub.done.Wait()
	return b
}

// neverPlain makes the scripts for the usual case leave it to the others.
func (s *scripts) neverPlain() {
	s.openPlain = redis.NewScript("return 'slow'")
	s.settlePlain = redis.NewScript("return 'slow' -- to settle")
}

// newSide starts a side. If plain is not set, the scripts for the usual case are
// never used.
func newSide(t *testing.T, now time.Time, plain bool) *side {
	t.Helper()
	server := miniredis.RunT(t)
	server.SetTime(now)
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	b := quiet(t, c)
	if !plain {
		b.core.scripts.neverPlain()
	}
	calls := &replies{map[string]string{b.core.scripts.openPlain.Hash(): "open", b.core.scripts.settlePlain.Hash(): "settle"}, map[string]int{}}
	c.AddHook(calls)
	return &side{b, server, c, calls}
}

// state returns all that is stored, with the time that each key has left.
func (s *side) state(t *testing.T) map[string]any {
	t.Helper()
	ctx := t.Context()
	out := map[string]any{}
	for _, key := range s.server.Keys() {
		var v any
		var err error
		switch kind := s.server.Type(key); kind {
		case "string":
			v, err = s.client.Get(ctx, key).Result()
		case "hash":
			v, err = s.client.HGetAll(ctx, key).Result()
		case "list":
			v, err = s.client.LRange(ctx, key, 0, -1).Result()
		case "zset":
			v, err = s.client.ZRangeWithScores(ctx, key, 0, -1).Result()
		case "stream":
			v, err = s.client.XRange(ctx, key, "-", "+").Result()
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
		if err != nil {
			t.Fatal(err)
		}
		out[key] = map[string]any{"left": s.server.TTL(key).String(), "value": v}
	}
	return out
}

// pair is two sides, and the requests that were opened on both.
type pair struct {
	t           *testing.T
	rand        *rand.Rand
	now         time.Time
	plain, full *side
	opened      []bridge.Opening
}

// both does the same on both sides, and compares the results and what is stored.
func (p *pair) both(what string, do func(*side) (any, error)) {
	p.t.Helper()
	type result struct {
		Value any
		Error string
	}
	run := func(s *side) string {
		v, err := do(s)
		r := result{Value: v}
		if err != nil {
			r.Error = err.Error()
		}
		raw, err := json.Marshal(r)
		if err != nil {
			p.t.Fatal(err)
		}
		return string(raw)
	}
	if d := cmp.Diff(run(p.full), run(p.plain)); d != "" {
		p.t.Fatalf("%s returns something else in the usual case:\n%s", what, d)
	}
	if d := cmp.Diff(p.full.state(p.t), p.plain.state(p.t)); d != "" {
		p.t.Fatalf("%s stores something else in the usual case:\n%s", what, d)
	}
}

// likely returns true n times of ten.
func (p *pair) likely(n int) bool { return p.rand.IntN(10) < n }

// opening returns a usual opening.
func (p *pair) opening() bridge.Opening {
	id, err := bridge.NewID(0)
	if err != nil {
		p.t.Fatal(err)
	}
	i := bridge.Interaction{
		ID: id,
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: `Say "hi"?`, OnTimeout: bridge.OnTimeoutExpire, Route: "default",
			Approval: &bridge.Approval{Tool: "bash", Input: json.RawMessage(`{"deadline":"x","digest":"y"}`)},
		},
		Agent: "ci|" + fmt.Sprint(p.rand.IntN(2)), Digest: strings.Repeat("d", 64),
		Schedule: bridge.Schedule{Created: p.now, Deadline: p.now.Add(time.Duration(1+p.rand.IntN(100)) * time.Second)},
	}
	for n := range p.rand.IntN(5) {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: fmt.Sprint("C", n)})
	}
	return bridge.Opening{Interaction: i, Limited: p.likely(3), FrontEnds: p.likely(3), Awaited: p.likely(5)}
}

func (p *pair) open() {
	o := p.opening()
	p.vary(&o)
	if n := len(p.opened); n > 0 && p.likely(1) { // a repeat
		o = p.opened[p.rand.IntN(n)]
	} else if n > 0 && p.likely(1) { // an ID that is taken
		o.Interaction.ID = p.opened[p.rand.IntN(n)].Interaction.ID
	}
	p.opened = append(p.opened, o)
	p.both("an opening", func(s *side) (any, error) {
		r, created, err := s.Open(p.t.Context(), o)
		s.hub.drop(o.Interaction.ID)
		return []any{r, created}, err
	})
}

// vary gives an opening what agents send, and sometimes what few send.
func (p *pair) vary(o *bridge.Opening) {
	i := &o.Interaction
	if p.likely(5) {
		i.Session, o.Stoppable = fmt.Sprint("s", p.rand.IntN(3)), p.likely(8)
	}
	if p.likely(5) {
		o.IdempotencyKey, o.RequestDigest = fmt.Sprint("k", p.rand.IntN(8)), fmt.Sprint("v:", p.rand.IntN(3))
	}
	if p.likely(3) {
		i.ToolCall = "call-1"
	}
	if p.likely(2) {
		i.Grace, i.Hold = bridge.Duration(time.Second), bridge.Duration(time.Hour)
	}
	if p.likely(2) {
		i.Webhooks = []string{"one", "two"}
	}
	silent := bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	o.Timeout, o.AfterHold = silent, bridge.Response{State: bridge.StateExpired, Reason: "deferred", Digest: i.Digest}
	if p.likely(3) {
		o.Timeout.Reason = "no one answered in time"
	}
	if p.likely(1) {
		o.Timeout.State = bridge.StatePending
	}
	if p.likely(3) {
		i.Steps = []bridge.Step{{After: bridge.Duration(time.Second), Remind: true}, {After: bridge.Duration(time.Minute), Remind: true}}
	}
	if !p.likely(3) {
		return
	}
	switch p.rand.IntN(9) {
	case 0:
		i.Join = true
	case 1:
		i.Batch = bridge.Duration(time.Minute)
	case 2, 3:
		o.Queued = true
	case 4:
		o.Response = &bridge.Response{State: bridge.StateDenied, Reason: "no", Digest: i.Digest}
	case 5:
		next := *i
		next.Deadline = i.Deadline.Add(i.Deadline.Sub(i.Created))
		o.Escalated = &next
	case 6, 7, 8:
		if n := len(p.opened); n > 0 {
			i.Previous = p.opened[p.rand.IntN(n)].Interaction.ID
			o.Superseded = bridge.Response{State: bridge.StateSuperseded}
			if p.likely(8) {
				i.Root = i.Previous
			}
		}
	}
}

// some returns the ID of a request, which may not exist.
func (p *pair) some() bridge.ID {
	if len(p.opened) == 0 || p.likely(1) {
		return "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f00"
	}
	return p.opened[p.rand.IntN(len(p.opened))].Interaction.ID
}

func (p *pair) settle() {
	states := []bridge.State{bridge.StateApproved, bridge.StateApproved, bridge.StateDenied, bridge.StateAnswered, bridge.StateCancelled}
	state := states[p.rand.IntN(len(states))]
	t := bridge.Settlement{ID: p.some(), Nonce: fmt.Sprint("n", p.rand.IntN(3)), Response: bridge.Response{
		State: state, At: p.now, Digest: "d", Annotations: map[string]bridge.Annotation{}, Reason: "said <so>",
	}}
	if p.likely(4) {
		n := p.rand.IntN(2)
		t.Expect = &n
	}
	if p.likely(3) {
		t.Card = &bridge.Shown{Destination: p.rand.IntN(3), Content: fmt.Sprint("c", p.rand.IntN(2))}
	}
	if p.likely(3) {
		t.Unless = "mute"
	}
	p.both("a settlement", func(s *side) (any, error) {
		r, won, err := s.Settle(p.t.Context(), t)
		return []any{r, won}, err
	})
}

// mark does something to a request that settling depends on.
func (p *pair) mark() {
	id, n := p.some(), p.rand.IntN(3)
	marks := []bridge.Mark{
		{Posted: &bridge.Posted{Destination: n, Ref: bridge.MessageRef{Channel: "C", Message: fmt.Sprint(n)}, Revision: 1}},
		{Posted: &bridge.Posted{Destination: 0, Ref: bridge.MessageRef{Channel: "C", Message: "0"}, Revision: 2}},
		{Shown: &bridge.Shown{Destination: n, Content: fmt.Sprint("c", p.rand.IntN(2))}}, {Joined: true}, {Queued: time.Hour}, {Failed: &bridge.Failed{Destination: n, Reason: "gone"}},
	}
	m := marks[p.rand.IntN(len(marks))]
	if p.likely(2) && id != "" {
		if r, err := p.full.Load(p.t.Context(), id); err == nil {
			next := time.Duration(p.rand.IntN(3)-1) * time.Second
			m = bridge.Mark{Amended: &bridge.Amendment{Interaction: r.Interaction, Expect: r.Amended, Step: r.Step + p.rand.IntN(2), Next: next}}
		}
	}
	p.both("a mark", func(s *side) (any, error) {
		r, err := s.Mark(p.t.Context(), id, m)
		return r, err
	})
}

func (p *pair) other() {
	ctx := p.t.Context()
	switch p.rand.IntN(8) {
	case 6:
		p.both("a note", func(s *side) (any, error) { return s.PutNote(ctx, "mute", "bo", 0) })
	case 7:
		p.both("the end of a note", func(s *side) (any, error) { return nil, s.DropNote(ctx, "mute") })
	case 0, 1:
		p.now = p.now.Add(time.Duration(p.rand.IntN(20)) * time.Second)
		p.plain.server.SetTime(p.now)
		p.full.server.SetTime(p.now)
	case 2:
		p.both("a stop", func(s *side) (any, error) {
			return s.PutStop(ctx, bridge.Stop{Agent: "ci|1", Session: "s1", At: p.now})
		})
	case 3:
		p.both("an end of a stop", func(s *side) (any, error) { return s.DropStop(ctx, "ci|1", "s1", bridge.Actor{}) })
	case 5:
		id, agent, key := p.some(), fmt.Sprint("ci|", p.rand.IntN(2)), fmt.Sprint("k", p.rand.IntN(8))
		p.both("an idempotency key of an older version", func(s *side) (any, error) {
			return s.client.Set(ctx, s.core.keys.plainIdem(0, agent, key), string(id)+"|v:1", time.Hour).Result()
		})
	case 4:
		id := p.some()
		p.both("the wait of another daemon", func(s *side) (any, error) {
			keys := []string{s.core.keys.record(id), s.core.keys.nodes(id.Partition())}
			return s.core.run(ctx, id.Partition(), s.core.scripts.await, keys, s.core.keys.wake("m"), "5000").Result()
		})
	}
}

// TestPlainScripts checks that the scripts for the usual case return and store
// the same as those for every case, in many random cases.
func TestPlainScripts(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(16) {
		now := time.Date(2026, 11, 1, 10, 0, 0, 123456789, time.UTC)
		p := &pair{t: t, rand: rand.New(rand.NewPCG(seed, 1)), now: now}
		p.plain, p.full = newSide(t, now, true), newSide(t, now, false)
		for range 80 {
			switch n := p.rand.IntN(10); {
			case n < 4:
				p.open()
			case n < 7:
				p.settle()
			case n < 8:
				p.mark()
			case n < 9:
				p.both("a claim", func(s *side) (any, error) { return s.Claim(t.Context(), 3, 10*time.Second) })
			default:
				p.other()
			}
		}
		p.now = p.now.Add(bridge.MaxTimeout)
		p.plain.server.SetTime(p.now)
		p.full.server.SetTime(p.now)
		p.both("what is due in the end", func(s *side) (any, error) {
			over, _, err := s.Expire(t.Context(), 1000)
			slices.SortFunc(over, func(a, b bridge.Expiry) int { return strings.Compare(string(a.ID), string(b.ID)) })
			return over, err
		})
		for name, n := range p.plain.calls.seen {
			seen[name] += n
		}
	}
	t.Log(seen)
	for name := range maps.Keys(map[string]int{"open false": 0, "open true": 0, "settle false": 0, "settle true": 0}) {
		if seen[name] < 20 {
			t.Errorf("%s only %d times: %v", name, seen[name], seen)
		}
	}
}

// TestPlainLaterRound checks that a later round, which the messages of the first
// one show, is settled as by the script for every case: the update of a message
// is a job of the first round.
func TestPlainLaterRound(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := &pair{t: t, rand: rand.New(rand.NewPCG(1, 1)), now: now}
	p.plain, p.full = newSide(t, now, true), newSide(t, now, false)
	var ids []bridge.ID
	for n := range 2 {
		o := p.opening()
		o.Interaction.Destinations = []bridge.Destination{{Platform: "chat", Channel: "C"}}
		o.Timeout = bridge.Response{State: bridge.StateExpired}
		if n == 1 {
			o.Interaction.Previous, o.Interaction.Root = ids[0], ids[0]
			o.Superseded = bridge.Response{State: bridge.StateSuperseded}
		}
		id := o.Interaction.ID
		ids = append(ids, id)
		p.both("an opening", func(s *side) (any, error) {
			r, created, err := s.Open(t.Context(), o)
			s.hub.drop(id)
			return []any{r, created}, err
		})
		p.both("a posting", func(s *side) (any, error) {
			ref := bridge.MessageRef{Channel: "C", Message: "1"}
			return s.Mark(t.Context(), id, bridge.Mark{Posted: &bridge.Posted{Ref: ref, Revision: 1}})
		})
		p.both("a settlement", func(s *side) (any, error) {
			r, won, err := s.Settle(t.Context(), settlementOf(id, "n"))
			return []any{r, won}, err
		})
	}
	if n := p.plain.calls.seen["settle true"]; n != 1 {
		t.Errorf("%d settlements need every case, want 1: %v", n, p.plain.calls.seen)
	}
}

// TestUnanswered checks that the script makes the usual response as Go does, and
// that an interaction which looks like another one has its response stored.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	s := newSide(t, time.Now(), true)
	lua, err := luaFiles.ReadFile("lua/base.lua")
	if err != nil {
		t.Fatal(err)
	}
	script := redis.NewScript(string(lua) + "\nreturn unanswered(ARGV[1])")
	for _, raw := range []string{
		"", "{}", `{"deadline":"2026-11-01T10:00:00.1Z","digest":"ab"}`, `{"digest":"a","x":{"digest":"b","deadline":"c"}}`,
		`{"deadline":"`, `{"digest":"x`, `{"prompt":"\"digest\":\"z\"","deadline":"é","digest":""}`, strings.Repeat(`"digest":"`, 9),
	} {
		got, err := script.Run(t.Context(), s.client, nil, raw).Text()
		if want := string(unanswered([]byte(raw))); errors.Join(err) != nil || got != want {
			t.Errorf("of %q the script makes\n%s, and Go\n%s, %v", raw, got, want, err)
		}
	}
}

// TestUsualTimeout checks that a usual response at the deadline is read as it
// would be decoded, and that other texts are left to JSON.
func TestUsualTimeout(t *testing.T) {
	t.Parallel()
	usual := func(at, digest string) string {
		return string(unanswered([]byte(`{"deadline":"` + at + `","digest":"` + digest + `"}`)))
	}
	const at = "2026-11-01T10:00:00.123Z"
	for text, known := range map[string]bool{
		usual(at, "0ab"): true, usual(at, ""): true, usual(noTime, "x"): true, usual("2026-11-01T10:00:00+02:00", "x"): true,
		usual(at, `\u0041`): false, usual(at, "\x80"): false, usual(at, "\n"): false, usual("soon", "x"): false,
		usual(at, "x") + " ": false, `{"state":"expired"}`: false, "": false,
		strings.Replace(usual(at, "x"), "expired", "approved", 1):      false,
		strings.Replace(usual(at, "x"), `"x"`, `"x","comment":"y"`, 1): false,
	} {
		got := usualTimeout(text)
		if (got != nil) != known {
			t.Errorf("%q is %+v, want known: %v", text, got, known)
		}
		var want bridge.Response
		if got != nil {
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Error(err)
			}
			if d := cmp.Diff(want, *got); d != "" {
				t.Errorf("%q (-JSON +read): %s", text, d)
			}
		}
	}
}
