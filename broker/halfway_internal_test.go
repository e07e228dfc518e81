package broker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// faulty begins a script in which one call of Redis fails: the one whose number
// is in the key fault. The key faulted then has its command, and whether the
// script had written before.
const faulty = `
local fault_at, fault_n, fault_after = tonumber(redis.call('GET', 'fault') or '0'), 0, 'nothing'
local function faulty(send, name, ...)
  fault_n = fault_n + 1
  if fault_n == fault_at then
    redis.call('SET', 'faulted', name .. ' ' .. fault_after)
    if send == redis.pcall then return {err = 'NOPERM injected'} end
    error('NOPERM injected')
  end
  for _, verb in ipairs({'SET', 'ADD', 'DEL', 'REM', 'PUSH', 'TRIM', 'EXPIRE', 'INCR', 'POP'}) do
    if string.find(name, verb, 1, true) then fault_after = 'a write' end
  end
  return send(name, ...)
end
local function faulty_call(...) return faulty(redis.call, ...) end
local function faulty_pcall(...) return faulty(redis.pcall, ...) end
`

// halfway is a step that runs one script, and what comes before it.
type halfway struct {
	before func(t *testing.T, b *Broker) bridge.Record
	tells  bool // it wakes other daemons
	step   func(ctx context.Context, b *Broker, r bridge.Record) error
}

// awaitedElsewhere opens a request that callers of another daemon wait for.
func awaitedElsewhere(t *testing.T, b *Broker) bridge.Record {
	t.Helper()
	r, _, err := b.Open(t.Context(), halfwayOpening(t))
	if err != nil {
		t.Fatal(err)
	}
	id := r.Interaction.ID
	keys := []string{b.core.keys.record(id), b.core.keys.nodes()}
	for _, node := range []string{"other", "third"} {
		if err := b.core.run(t.Context(), b.core.scripts.await, keys, b.core.keys.wake(node), "60000").Err(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Mark(t.Context(), id, bridge.Mark{Posted: &bridge.Posted{Ref: bridge.MessageRef{Channel: "C0", Message: "1"}, Revision: 1}}); err != nil {
		t.Fatal(err)
	}
	return r
}

func halfwayOpening(t *testing.T) bridge.Opening {
	t.Helper()
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	i := bridge.Interaction{
		ID: id, Agent: "ci", Digest: "d", Webhooks: []string{"w"},
		Ask:       bridge.Ask{Kind: bridge.KindApproval, Prompt: "Deploy?", OnTimeout: bridge.OnTimeoutExpire, Session: "s", Approval: &bridge.Approval{Tool: "bash"}},
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C0"}}},
		Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Hour), Steps: []bridge.Step{{After: bridge.Duration(time.Minute), Remind: true}}},
	}
	return bridge.Opening{
		Interaction: i, Limited: true, Stoppable: true, Identity: bridge.CallID{Key: string(id)}.Identity("ci", "s", "d"),
		Timeout: bridge.Response{State: bridge.StateExpired}, Superseded: bridge.Response{State: bridge.StateSuperseded},
	}
}

func settlement(id bridge.ID) bridge.Settlement {
	return bridge.Settlement{ID: id, Nonce: "n", Response: bridge.Response{State: bridge.StateApproved, Actor: &bridge.Actor{Platform: "chat", User: "U"}}}
}

// due lets the deadline of a request pass.
func due(t *testing.T, b *Broker) bridge.Record {
	t.Helper()
	r := awaitedElsewhere(t, b)
	key := b.core.keys.record(r.Interaction.ID)
	packed := strings.SplitN(b.core.client.HGet(t.Context(), key, fieldPacked).Val(), "|", 4)
	packed[2] = "1"
	b.core.client.HSet(t.Context(), key, fieldPacked, strings.Join(packed, "|"))
	b.core.client.ZAdd(t.Context(), b.core.keys.deadlines(), redis.Z{Score: 1, Member: string(r.Interaction.ID)})
	return r
}

var halfways = map[string]halfway{
	"open": {nil, false, func(ctx context.Context, b *Broker, r bridge.Record) error {
		_, _, err := b.Open(ctx, bridge.Opening{Interaction: r.Interaction, Limited: true, Identity: bridge.CallID{Key: "k"}.Identity("ci", "s", "d")})
		return err
	}},
	"follow-up": {awaitedElsewhere, true, func(ctx context.Context, b *Broker, r bridge.Record) error {
		i := r.Interaction
		i.Previous, i.Root = i.ID, i.ID
		i.ID, _ = bridge.NewID()
		_, _, err := b.Open(ctx, bridge.Opening{Interaction: i, Superseded: bridge.Response{State: bridge.StateSuperseded}})
		return err
	}},
	"settle": {awaitedElsewhere, true, func(ctx context.Context, b *Broker, r bridge.Record) error {
		_, _, err := b.Settle(ctx, settlement(r.Interaction.ID))
		return err
	}},
	"vote": {awaitedElsewhere, true, func(ctx context.Context, b *Broker, r bridge.Record) error {
		s := settlement(r.Interaction.ID)
		_, _, err := b.Vote(ctx, bridge.Ballot{
			ID: s.ID, Nonce: "n", Response: s.Response, Vote: bridge.Vote{State: bridge.StateApproved, Actor: *s.Response.Actor},
		})
		return err
	}},
	"expire": {due, true, func(ctx context.Context, b *Broker, _ bridge.Record) error {
		_, _, err := b.Expire(ctx, 10)
		return err
	}},
	"deferred": {awaitedElsewhere, true, mark(bridge.Mark{Queued: time.Hour})},
	"deferred and settled": {func(t *testing.T, b *Broker) bridge.Record {
		r := awaitedElsewhere(t, b)
		if _, err := b.Mark(t.Context(), r.Interaction.ID, bridge.Mark{Queued: time.Hour}); err != nil {
			t.Fatal(err)
		}
		return r
	}, true, func(ctx context.Context, b *Broker, r bridge.Record) error {
		_, _, err := b.Settle(ctx, settlement(r.Interaction.ID))
		return err
	}},
	"failed":    {awaitedElsewhere, true, mark(bridge.Mark{Failed: &bridge.Failed{Reason: "x"}})},
	"completed": {awaitedElsewhere, false, mark(bridge.Mark{Completed: &bridge.Completion{}})},
	"stop": {awaitedElsewhere, false, func(ctx context.Context, b *Broker, _ bridge.Record) error {
		_, err := b.PutStop(ctx, bridge.Stop{Agent: "ci", Session: "s"})
		return err
	}},
	"grant": {awaitedElsewhere, false, func(ctx context.Context, b *Broker, r bridge.Record) error {
		_, err := b.PutGrant(ctx, bridge.Grant{Agent: "ci", Key: "k", Origin: r.Interaction.ID, Expires: time.Now().Add(time.Hour)})
		return err
	}},
	"message": {awaitedElsewhere, false, func(ctx context.Context, b *Broker, _ bridge.Record) error {
		_, err := b.PutSteering(ctx, bridge.Steering{Agent: "ci", Session: "s", Text: "x"}, "k")
		return err
	}},
	"claim": {awaitedElsewhere, false, func(ctx context.Context, b *Broker, _ bridge.Record) error {
		_, err := b.Claim(ctx, 10, time.Minute)
		return err
	}},
	"turn": {nil, false, func(ctx context.Context, b *Broker, _ bridge.Record) error {
		_, err := b.Turn(ctx, bridge.Call{Platform: "chat", Key: "k", Limits: []bridge.Limit{{Line: "C0", Calls: 1, Period: time.Second}}})
		return err
	}},
}

func mark(m bridge.Mark) func(context.Context, *Broker, bridge.Record) error {
	return func(ctx context.Context, b *Broker, r bridge.Record) error {
		_, err := b.Mark(ctx, r.Interaction.ID, m)
		return err
	}
}

// TestHalfway makes each call of Redis fail in turn. A script stores nothing if a
// call before its first write fails, and everything if it cannot tell others. Any
// other call can fail only for a right that is missing, which the probe tries
// before a daemon starts.
func TestHalfway(t *testing.T) {
	t.Parallel()
	probe, err := source("probe")
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range halfways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.Shared(t).Client(t)
			b := quiet(t, c)
			b.core.scripts = loadScripts(func(name string, _ bool) *redis.Script {
				text, _ := source(name) // TestMain has loaded it before
				return redis.NewScript(faulty + strings.NewReplacer("redis.call", "faulty_call", "redis.pcall", "faulty_pcall").Replace(text))
			})
			told := false
			for n := 1; ; n++ {
				if err := c.FlushDB(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				r := bridge.Record{Interaction: halfwayOpening(t).Interaction}
				if h.before != nil {
					r = h.before(t, b)
				}
				was := content(t, c)
				c.Set(t.Context(), "fault", n, 0)
				err := h.step(t.Context(), b, r)
				command, after, faulted := strings.Cut(c.Get(t.Context(), "faulted").Val(), " ")
				c.Del(t.Context(), "fault", "faulted")
				d := cmp.Diff(was, content(t, c))
				switch {
				case !faulted && err != nil:
					t.Fatal(err)
				case !faulted:
					if n < 3 {
						t.Error("no call failed")
					}
					if told != h.tells {
						t.Errorf("it told others: %v", told)
					}
					return
				case command == "PUBLISH":
					told = true
					if err != nil || d == "" {
						t.Errorf("call %d, %s: %v", n, command, err)
					}
				case after == "nothing" && d != "":
					t.Errorf("call %d, %s, comes before the first write, but changed: %s", n, command, d)
				case !strings.Contains(probe, "'"+command+"'"):
					t.Errorf("call %d: the probe does not try %s", n, command)
				}
			}
		})
	}
}

// sent matches commands that Go sends, and those of scripts.
var sent = regexp.MustCompile(`\b(?:client|p|pipe)\.([A-Z]\w+)\(ctx|call\('([A-Z]+)'`)

// methods are the names of methods that differ from those of commands. Those
// without a command are not commands, or every user of Redis may run them.
var methods = map[string]string{
	"PIPELINED": "", "TXPIPELINED": "", "PROCESS": "", "RELOADSTATE": "", "SUBSCRIBE": "", "PING": "", "INFOMAP": "", "EVAL": "", "EVALSHA": "", "DO": "", "TIME": "",
	"XRANGEN": "XRANGE", "XREVRANGEN": "XREVRANGE", "XTRIMMINID": "XTRIM", "XINFOSTREAM": "XINFO", "ZRANGEWITHSCORES": "ZRANGE",
	"ZREVRANGEWITHSCORES": "ZREVRANGE", "ZREVRANGEBYSCOREWITHSCORES": "ZREVRANGEBYSCORE", "FOREACHMASTER": "",
}

// TestProbe checks that the probe tries every command that nod sends.
func TestProbe(t *testing.T) {
	t.Parallel()
	probe, err := source("probe")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("*.go")
	lua, _ := filepath.Glob("lua/*.lua")
	seen := map[string]bool{}
	for _, file := range append(files, lua...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range sent.FindAllStringSubmatch(string(raw), -1) {
			command := strings.ToUpper(m[1] + m[2])
			if name, other := methods[command]; other {
				command = name
			}
			seen[command] = true
			if command != "" && !strings.Contains(probe, "'"+command+"'") {
				t.Errorf("%s: the probe does not try %s", file, command)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d commands were found", len(seen))
	}
}

// documentedRights returns the rights of the ACL rule in the documentation.
func documentedRights(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../docs/operate/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "ACL SETUSER nod on >PASSWORD ")
	if !found {
		t.Fatal("the documentation has no ACL rule")
	}
	rules, _, _ := strings.Cut(rest, "\n")
	return rules
}

// TestRights checks that a daemon does not start as a user of Redis without one
// of the rights that nod needs, and that the error says which and what to do.
func TestRights(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client(t)
	for n, x := range []struct{ rules, says string }{
		{"~nod:* &nod:* +@all", ""},
		{"~nod:* resetchannels +@all", "channel"},
		{"~nod:{* &nod:* +@all", "key"},
		{"%R~nod:* &nod:* +@all", "key"},
		{"~nod:* &nod:* +@all -eval", "eval"},
		{"~nod:* &nod:* +@all -evalsha", "evalsha"},
		{"~nod:* &nod:* +@all -xadd", "xadd"},
		{"~nod:* &nod:* +@all -zadd", "zadd"},
		{"~nod:* &nod:* +@all -subscribe", "subscribe"},
		{"~nod:* &nod:* +@all -publish", "publish"},
		{"~nod:* &nod:* +@all -multi", "multi"},
		{"~nod:* &nod:* +@all -info -config", ""},
		{documentedRights(t), ""},
	} {
		user := fmt.Sprint("u", n)
		args := []any{"ACL", "SETUSER", user, "on", ">pw"}
		for rule := range strings.FieldsSeq(x.rules) {
			args = append(args, rule)
		}
		if err := admin.Do(t.Context(), args...).Err(); err != nil {
			t.Fatal(err)
		}
		c := redis.NewClient(&redis.Options{Addr: server.Addr, Username: user, Password: "pw", ContextTimeoutEnabled: true})
		b, err := New(t.Context(), Options{Client: c, Node: "n"})
		if err == nil {
			b.Close()
		}
		c.Close()
		public := bridge.PublicError(err)
		switch {
		case x.says == "" && err != nil:
			t.Errorf("%s: %v", x.rules, err)
		case x.says != "" && (!strings.HasPrefix(public.Message, "redis refuses: ") || !strings.Contains(strings.ToLower(public.Message), x.says) || !strings.Contains(public.Hint, "ACL")):
			t.Errorf("%s: %v", x.rules, public)
		}
	}
}

// TestStartOnFullRedis checks that a daemon starts on a Redis that is full, even
// as a user without INFO, that pending requests can be decided there, and that
// the error of a new one says why.
func TestStartOnFullRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client(t)
	ctx := t.Context()
	r, _, err := quiet(t, server.Client(t)).Open(ctx, halfwayOpening(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]any{
		{"CONFIG", "SET", "maxmemory", "1"}, {"ACL", "SETUSER", "nod", "on", ">pw", "~nod:*", "&nod:*", "+@all", "-info"},
	} {
		if err := admin.Do(ctx, args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	b := quiet(t, redis.NewClient(&redis.Options{Addr: server.Addr, Username: "nod", Password: "pw", ContextTimeoutEnabled: true}))
	if _, won, err := b.Settle(ctx, settlement(r.Interaction.ID)); err != nil || !won {
		t.Errorf("the pending request: won %v, %v", won, err)
	}
	_, _, err = b.Open(ctx, halfwayOpening(t))
	if public := bridge.PublicError(err); !strings.HasPrefix(public.Message, "redis refuses: OOM ") || !strings.Contains(public.Hint, "maxmemory") {
		t.Errorf("a new request: %+v", public)
	}
}
