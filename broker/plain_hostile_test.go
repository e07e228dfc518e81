package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker/redistest"
)

// clockKeys is the expression with which the scripts of a duel read the time.
const clockKeys = "{call('GET', 'clock-s'), call('GET', 'clock-us')}"

// clocked returns a script that reads the time from keys, which a test sets.
func clocked(t *testing.T, name string) *redis.Script {
	t.Helper()
	parts := []string{"base", "lib", name}
	if strings.HasSuffix(name, "_plain") {
		parts = []string{"base", name}
	}
	var s strings.Builder
	for _, part := range parts {
		src, err := luaFiles.ReadFile("lua/" + part + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		s.Write(src)
	}
	return redis.NewScript(strings.Replace(s.String(), "call('TIME')", clockKeys, 1))
}

// duelist is one side of a duel: a broker with a database of its own.
type duelist struct {
	*Broker
	client *redis.Client
}

// duel does the same with the short scripts and with the full ones, on a real
// server, with hostile values and a clock that jumps.
type duel struct {
	t           *testing.T
	rand        *rand.Rand
	now         time.Time
	plain, full duelist
	opened      []bridge.Opening
}

func newDuel(t *testing.T, addr string, seed uint64) *duel {
	t.Helper()
	side := func(db int, plain bool) duelist {
		c := redis.NewClient(&redis.Options{Addr: addr, DB: db, ContextTimeoutEnabled: true})
		if err := c.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		b := quiet(t, c)
		s := &b.core.scripts
		s.open, s.settle, s.mark, s.vote = clocked(t, "open"), clocked(t, "settle"), clocked(t, "mark"), clocked(t, "vote")
		s.expire, s.claim = clocked(t, "expire"), clocked(t, "claim")
		s.openPlain, s.settlePlain = clocked(t, "open_plain"), clocked(t, "settle_plain")
		// It ends requests in another order; TestShortExpiry compares it.
		s.expirePlain = redis.NewScript("local out = {} for n = 2, #ARGV do out[n - 1] = 'slow' end return out")
		if !plain {
			s.neverPlain()
		}
		return duelist{b, c}
	}
	d := &duel{t: t, rand: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
	d.plain, d.full = side(0, true), side(1, false)
	d.move(0)
	return d
}

// move changes the time of both servers.
func (d *duel) move(by time.Duration) {
	d.now = d.now.Add(by)
	for _, s := range []duelist{d.plain, d.full} {
		err := s.client.MSet(d.t.Context(), "clock-s", d.now.Unix(), "clock-us", d.now.Nanosecond()/1000).Err()
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// entryInJSON is the ID of an entry in the journal, which starts with the time.
var entryInJSON = regexp.MustCompile(`"entry":"\d+-\d+"`)

// both does the same on both sides. Results and contents must be equal, apart
// from IDs of entries.
func (d *duel) both(what string, do func(*Broker) (any, error)) {
	d.t.Helper()
	run := func(b *Broker) string {
		v, err := do(b)
		raw, broken := json.Marshal(v)
		return entryInJSON.ReplaceAllString(fmt.Sprintf("%s %v %v", raw, err, broken), "")
	}
	if diff := cmp.Diff(run(d.full.Broker), run(d.plain.Broker)); diff != "" {
		d.t.Fatalf("%s returns something else with the short scripts (-full +short):\n%s", what, diff)
	}
	if diff := cmp.Diff(content(d.t, d.full.client), content(d.t, d.plain.client), sameLife); diff != "" {
		d.t.Fatalf("%s stores something else with the short scripts (-full +short):\n%s", what, diff)
	}
}

func (d *duel) likely(n int) bool { return d.rand.IntN(10) < n }

// hostileTexts are texts that patterns, separators and encoders may misread.
var hostileTexts = []string{
	"ci", "a|b", "%d%s%(", "x\ny", "\x1e\x1f\x00", "é\u2028", "\xff\xfe", `","digest":"z`, `","deadline":"z"`, "1|2|3", "-", ",", ":", "{0}", strings.Repeat("w", 300), " ",
}

func (d *duel) text() string { return hostileTexts[d.rand.IntN(len(hostileTexts))] }

// opening returns an opening with hostile values.
func (d *duel) opening() bridge.Opening {
	id, err := bridge.NewID(0)
	if err != nil {
		d.t.Fatal(err)
	}
	spans := []time.Duration{time.Millisecond, time.Second, 1001 * time.Millisecond, time.Hour, bridge.MaxTimeout}
	input, _ := json.Marshal(map[string]any{d.text(): d.text(), "deadline": d.text(), "digest": d.text()})
	i := bridge.Interaction{
		ID: id, Agent: strings.ReplaceAll(d.text(), "\x00", ""), Digest: strings.Repeat("d", 64),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: d.text(), OnTimeout: bridge.OnTimeoutExpire, Route: "default",
			Approval: &bridge.Approval{Tool: d.text(), Input: input},
		},
		Schedule: bridge.Schedule{Created: d.now, Deadline: d.now.Add(spans[d.rand.IntN(len(spans))])},
	}
	for n := range []int{0, 1, 2, 3, 4, bridge.MaxDestinations}[d.rand.IntN(6)] {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: fmt.Sprint("C", n)})
	}
	for n := range []int{0, 0, 1, 3, 4, 8}[d.rand.IntN(6)] {
		i.Webhooks = append(i.Webhooks, fmt.Sprint("w", n))
	}
	o := bridge.Opening{Interaction: i, Limited: d.likely(3), FrontEnds: d.likely(3)}
	if d.likely(5) {
		o.Interaction.Session, o.Stoppable = d.text(), d.likely(5)
	}
	if d.likely(5) {
		o.IdempotencyKey, o.RequestDigest = d.text(), fmt.Sprint("v:", d.rand.IntN(2))
	}
	if d.likely(3) {
		o.Interaction.ToolCall = d.text()
	}
	if d.likely(3) {
		o.Interaction.Steps = []bridge.Step{{After: bridge.Duration(d.rand.IntN(3000)) * bridge.Duration(time.Millisecond), Remind: true}}
	}
	o.Timeout = bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	if d.likely(2) {
		o.Timeout.State, o.Interaction.Hold = bridge.StatePending, bridge.Duration(time.Hour)
	}
	if d.likely(2) {
		o.Timeout.Reason = d.text()
	}
	o.AfterHold = bridge.Response{State: bridge.StateExpired, Reason: d.text()}
	return o
}

func (d *duel) open() {
	o := d.opening()
	if n := len(d.opened); n > 0 && d.likely(1) {
		o = d.opened[d.rand.IntN(n)]
	}
	d.opened = append(d.opened, o)
	d.both("an opening", func(b *Broker) (any, error) {
		r, created, err := b.Open(d.t.Context(), o)
		return []any{r, created}, err
	})
}

func (d *duel) some() bridge.ID {
	if len(d.opened) == 0 {
		return "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f00"
	}
	return d.opened[max(0, len(d.opened)-1-d.rand.IntN(12))%len(d.opened)].Interaction.ID
}

var hostileContents = []string{"", "c1", "c2"}

func (d *duel) settle() {
	states := []bridge.State{bridge.StateApproved, bridge.StateDenied, bridge.StateAnswered, bridge.StateCancelled, bridge.StateExpired}
	s := bridge.Settlement{ID: d.some(), Nonce: fmt.Sprint("n", d.rand.IntN(2)), Response: bridge.Response{
		State: states[d.rand.IntN(len(states))], At: d.now, Annotations: map[string]bridge.Annotation{}, Reason: d.text(),
	}}
	if d.likely(4) {
		n := d.rand.IntN(2)
		s.Expect = &n
	}
	if d.likely(5) {
		s.Card = &bridge.Shown{Destination: d.rand.IntN(4), Content: hostileContents[d.rand.IntN(3)]}
	}
	d.both("a settlement", func(b *Broker) (any, error) {
		r, won, err := b.Settle(d.t.Context(), s)
		return []any{r, won}, err
	})
}

func (d *duel) mark() {
	id, n := d.some(), d.rand.IntN(4)
	ref := bridge.MessageRef{Channel: "C", Message: fmt.Sprint(n)}
	marks := []bridge.Mark{
		{Posted: &bridge.Posted{Destination: n, Ref: ref, Revision: 1, Content: hostileContents[d.rand.IntN(3)]}},
		{Posted: &bridge.Posted{Destination: 0, Ref: ref, Revision: 1, Content: "c1"}},
		{Shown: &bridge.Shown{Destination: n, Content: hostileContents[1+d.rand.IntN(2)]}},
		{Joined: true}, {Queued: time.Hour}, {Failed: &bridge.Failed{Destination: n, Reason: d.text()}}, {Redraw: &n},
	}
	m := marks[d.rand.IntN(len(marks))]
	if r, err := d.full.Load(d.t.Context(), id); err == nil && d.likely(2) {
		m = bridge.Mark{Amended: &bridge.Amendment{Interaction: r.Interaction, Expect: r.Amended, Next: -1}}
	}
	d.both("a mark", func(b *Broker) (any, error) { return b.Mark(d.t.Context(), id, m) })
}

func (d *duel) other() {
	ctx := d.t.Context()
	switch d.rand.IntN(6) {
	case 0, 1:
		d.move([]time.Duration{time.Millisecond, time.Second, time.Minute, 2 * time.Hour, -time.Second, -3 * time.Hour}[d.rand.IntN(6)])
	case 2:
		d.both("a claim", func(b *Broker) (any, error) { return b.Claim(ctx, 3, 10*time.Second) })
	case 3:
		agent, session := d.text(), d.text()
		d.both("a stop", func(b *Broker) (any, error) {
			return b.PutStop(ctx, bridge.Stop{Agent: agent, Session: session, At: d.now})
		})
	case 4:
		if err := d.plain.client.ScriptFlush(ctx).Err(); err != nil {
			d.t.Fatal(err)
		}
	case 5:
		d.both("what is due", func(b *Broker) (any, error) {
			over, more, err := b.Expire(ctx, 1000)
			return []any{len(over), more}, err
		})
	}
}

// TestDuel checks on a real server that the short scripts do the same as the full
// ones with hostile values, cards, jobs under way, clocks that jump in both
// directions, and scripts that were flushed.
func TestDuel(t *testing.T) {
	t.Parallel()
	addr, seeds := redistest.Start(t, "--databases", "2").Addr, uint64(4)
	if os.Getenv("NOD_CHAOS") != "" {
		seeds = 40
	}
	for seed := range seeds {
		d := newDuel(t, addr, seed)
		for range 90 {
			switch n := d.rand.IntN(10); {
			case n < 4:
				d.open()
			case n < 6:
				d.settle()
			case n < 8:
				d.mark()
			default:
				d.other()
			}
		}
		d.plain.Close()
		d.full.Close()
	}
}

// TestRefusedWrites checks that a server that refuses writes, because it has
// become a replica or is out of memory, stores nothing of an opening, and that
// the same calls succeed later, once.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		begin, end []any
		settles    bool // decisions are stored anyway
	}{
		"out of memory":    {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, true},
		"too few replicas": {[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, false},
		"a replica":        {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDuel(t, redistest.Start(t).Addr, 3)
			b, c := d.plain.Broker, d.plain.client
			b.core.scripts, _ = loadScripts(true)
			ctx := t.Context()
			var before, during []bridge.Opening
			for n := range 20 {
				o := d.opening()
				o.Interaction.Deadline = o.Interaction.Created.Add(time.Minute)
				o.Stoppable = false
				if o.IdempotencyKey != "" {
					o.IdempotencyKey = fmt.Sprint("key ", n)
				}
				if n%2 == 0 {
					before = append(before, o)
				} else {
					during = append(during, o)
				}
			}
			for _, o := range before {
				if _, created, err := b.Open(ctx, o); err != nil || !created {
					t.Fatal(created, err)
				}
			}
			was := content(t, c)
			do := func(args []any) {
				t.Helper()
				if err := c.Do(ctx, args...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			do(f.begin)
			for _, o := range during {
				if _, _, err := b.Open(ctx, o); err == nil {
					t.Fatal("an opening was accepted")
				}
			}
			approve := func(o bridge.Opening) (bool, error) {
				_, won, err := b.Settle(ctx, bridge.Settlement{ID: o.Interaction.ID, Nonce: "u", Response: bridge.Response{State: bridge.StateApproved}})
				return won, err
			}
			if !f.settles {
				for _, o := range before {
					if won, err := approve(o); err == nil || won {
						t.Fatal("a decision was accepted")
					}
				}
			}
			if diff := cmp.Diff(lasting(was), lasting(content(t, c))); diff != "" {
				t.Fatalf("a refused script stored something:\n%s", diff)
			}
			if f.settles {
				for _, o := range before {
					if won, err := approve(o); err != nil || !won {
						t.Fatal(won, err)
					}
				}
			}
			do(f.end)
			for n, o := range append(before, during...) {
				_, created, err := b.Open(ctx, o)
				if err != nil || created != (n >= len(before)) {
					t.Errorf("opening %d again: created %v, %v", n, created, err)
				}
				won, err := approve(o)
				if errors.Join(err) != nil || !won {
					t.Errorf("deciding %d: %v, %v", n, won, err)
				}
			}
		})
	}
}

// lasting is a content without what is written before an opening on purpose: the
// lines of the cards, which are dropped if the opening fails.
func lasting(content map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range content {
		if !strings.Contains(k, ":line:") && !strings.HasPrefix(k, "life of") {
			out[k] = v
		}
	}
	return out
}
