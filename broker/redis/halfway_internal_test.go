package redis

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// faulty begins a script in which one call of Redis fails: the one whose number is in
// the key fault. The key faulted then has its command, and whether the script had
// written before.
const faulty = `
local fault_at, fault_n, fault_after = tonumber(redis.call('GET', 'fault') or '0'), 0, 'nothing'
local function faulty(name, ...)
  fault_n = fault_n + 1
  if fault_n == fault_at then
    redis.call('SET', 'faulted', name .. ' ' .. fault_after)
    error('NOPERM injected')
  end
  for _, verb in ipairs({'SET', 'ADD', 'DEL', 'REM', 'PUSH', 'TRIM', 'EXPIRE', 'INCR', 'POP'}) do
    if string.find(name, verb, 1, true) then fault_after = 'a write' end
  end
  return redis.call(name, ...)
end
`

// rewritten returns scripts with another text.
func rewritten(t *testing.T, change func(string) string) scripts {
	t.Helper()
	return loadScripts(func(_ bool, parts ...string) *rdb.Script {
		text, err := source(parts)
		if err != nil {
			t.Error(err)
		}
		return rdb.NewScript(change(text))
	})
}

// content returns all that a database holds.
func content(t *testing.T, c *rdb.Client) map[string]any {
	t.Helper()
	ctx, out := t.Context(), map[string]any{}
	for _, key := range c.Keys(ctx, "*").Val() {
		switch kind := c.Type(ctx, key).Val(); kind {
		case "string":
			out[key] = c.Get(ctx, key).Val()
		case "hash":
			out[key] = c.HGetAll(ctx, key).Val()
		case "zset":
			out[key] = c.ZRangeWithScores(ctx, key, 0, -1).Val()
		case "list":
			out[key] = c.LRange(ctx, key, 0, -1).Val()
		case "stream":
			out[key] = c.XRange(ctx, key, "-", "+").Val()
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
	}
	return out
}

func newInternal(t *testing.T, c *rdb.Client) *Store {
	t.Helper()
	s, err := New(t.Context(), Options{Client: c, Seals: broker.NewSeals()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func thing(id string) broker.Doc {
	return broker.Doc{Key: broker.Key{Kind: "thing", ID: id}, Format: 1, Value: []byte("{}")}
}

// filled is a change that stores something of each kind.
func filled() broker.Change {
	due := time.Now().Add(-time.Minute)
	return broker.Change{
		Put: []broker.Doc{thing("a"), thing("b")}, Set: []broker.Member{{Index: "x", Name: "a"}}, Journal: []broker.Entry{{Fields: []string{"a", "1"}}},
		Request: []broker.Job{{Name: "j", Due: due}, {Name: "1@q", Due: due}, {Name: "2@q", Due: due}, {Name: "3@q", Due: due}},
	}
}

// steps are calls that each run one script.
var steps = map[string]func(ctx context.Context, s *Store, docs []broker.Doc, jobs []broker.Job) error{
	"do": func(ctx context.Context, s *Store, docs []broker.Doc, _ []broker.Job) error {
		changed := docs[0]
		changed.Keep, changed.Noted = time.Hour, 1
		c := filled()
		c.If, c.Below = []broker.Version{docs[1].At()}, []broker.Bound{{Index: "x", Max: 9}}
		c.Put, c.Drop = []broker.Doc{thing("c"), changed}, []broker.Version{docs[1].At()}
		c.Set, c.Unset = []broker.Member{{Index: "x", Name: "b", IndexTTL: time.Hour}}, []broker.Member{{Index: "x", Name: "a"}}
		c.Withdraw = []string{"1@q", "3@q"}
		c.Request = append(c.Request, broker.Job{Name: "4@q", Due: time.Now()}, broker.Job{Name: "new", Due: time.Now(), Exact: true})
		_, err := s.Do(ctx, c)
		return err
	},
	"claim": func(ctx context.Context, s *Store, _ []broker.Doc, _ []broker.Job) error {
		_, _, err := s.Claim(ctx, 9, time.Hour)
		return err
	},
	"done": func(ctx context.Context, s *Store, _ []broker.Doc, jobs []broker.Job) error {
		_, err := s.Release(ctx, jobs[0], broker.Release{Done: true})
		return err
	},
	"dead": func(ctx context.Context, s *Store, _ []broker.Doc, jobs []broker.Job) error {
		_, err := s.Release(ctx, jobs[0], broker.Release{Dead: []byte("x")})
		return err
	},
	"again": func(ctx context.Context, s *Store, _ []broker.Doc, jobs []broker.Job) error {
		_, err := s.Release(ctx, jobs[0], broker.Release{Again: time.Hour})
		return err
	},
}

// TestHalfway makes each call of a script to Redis fail in turn. A script stores
// nothing if a call before its first write fails. Any other call can fail only for a
// right that is missing, which the probe tries before a daemon starts.
func TestHalfway(t *testing.T) {
	t.Parallel()
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.Shared(t).Client(t)
			s := newInternal(t, c)
			good := s.scripts
			for n := 1; ; n++ {
				ctx := t.Context()
				s.scripts = good
				if err := c.FlushDB(ctx).Err(); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Do(ctx, filled()); err != nil {
					t.Fatal(err)
				}
				docs, err := s.Get(ctx, thing("a").Key, thing("b").Key)
				if err != nil {
					t.Fatal(err)
				}
				var jobs []broker.Job
				if name != "claim" && name != "do" {
					jobs, _, err = s.Claim(ctx, 1, time.Hour)
					if err != nil {
						t.Fatal(err)
					}
				}
				was := content(t, c)
				c.Set(ctx, "fault", n, 0)
				s.scripts = rewritten(t, func(text string) string { return faulty + strings.ReplaceAll(text, "redis.call", "faulty") })
				err = step(ctx, s, docs, jobs)
				command, after, faulted := strings.Cut(c.Get(ctx, "faulted").Val(), " ")
				c.Del(ctx, "fault", "faulted")
				if !faulted {
					if err != nil || n < 4 {
						t.Errorf("call %d did not fail: %v", n, err)
					}
					return
				}
				if d := cmp.Diff(was, content(t, c)); after == "nothing" && d != "" || err == nil {
					t.Errorf("call %d, %s, fails after %s: %v: %s", n, command, after, err, d)
				}
				if !strings.Contains("\n"+tried, "\n"+command+" ") && command != "TIME" {
					t.Errorf("call %d: the probe does not try %s", n, command)
				}
			}
		})
	}
}

// sent matches commands that Go sends, and those of scripts.
var sent = regexp.MustCompile(`\b(?:client|p|conn)\.([A-Z]\w+)\(ctx|call\('([A-Z]+)'`)

// methods are the names of methods that differ from those of commands. Those without a
// command are not commands, or every user of Redis may run them, or are tried apart.
var methods = map[string]string{
	"PIPELINED": "", "TXPIPELINED": "", "PROCESS": "", "RELOADSTATE": "", "PING": "", "INFOMAP": "", "EVAL": "", "EVALSHA": "", "DO": "", "TIME": "", "FOREACHMASTER": "",
	"XREAD": "", "XRANGEN": "XRANGE", "XREVRANGEN": "XREVRANGE", "XTRIMMINID": "XTRIM", "XINFOSTREAM": "XINFO", "ZRANGEARGSWITHSCORES": "ZRANGE",
}

// TestProbe checks that the probe tries every command that nod sends.
func TestProbe(t *testing.T) {
	t.Parallel()
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
			if command != "" && !strings.Contains("\n"+tried, "\n"+command+" ") {
				t.Errorf("%s: the probe does not try %s", file, command)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d commands were found", len(seen))
	}
}

// TestRefusedWrites checks that a server that refuses writes, because it has become a
// replica or is out of memory, stores no part of a change, and that the same change
// succeeds later. What is urgent is stored although Redis is out of memory.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		begin, end []any
		urgent     bool
	}{
		"out of memory":    {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, true},
		"too few replicas": {[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, false},
		"a replica":        {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, ctx := redistest.Start(t), t.Context()
			c := rdb.NewClient(&rdb.Options{Addr: server.Addr, ContextTimeoutEnabled: true, MaxRetries: -1})
			t.Cleanup(func() { c.Close() })
			s := newInternal(t, c)
			if _, err := s.Do(ctx, broker.Change{Request: []broker.Job{{Name: "old", Due: time.Now().Add(-time.Hour)}}}); err != nil {
				t.Fatal(err)
			}
			was := content(t, c)
			if err := c.Do(ctx, x.begin...).Err(); err != nil {
				t.Fatal(err)
			}
			urgent := filled()
			urgent.Urgent = true
			all := []broker.Change{filled(), urgent}
			if x.urgent {
				all = all[:1]
			}
			for _, c := range all {
				if _, err := s.Do(ctx, c); bridge.ErrorCode(err) != bridge.CodeUnavailable || bridge.PublicError(err).Hint == "" {
					t.Errorf("a change: %v", err)
				}
			}
			if d := cmp.Diff(was, content(t, c)); d != "" {
				t.Errorf("a refused script stored something: %s", d)
			}
			if x.urgent {
				jobs, _, err := s.Claim(ctx, 1, time.Hour)
				if err != nil || len(jobs) != 1 {
					t.Errorf("the jobs are %v, %v", jobs, err)
				} else if _, err := s.Release(ctx, jobs[0], broker.Release{Done: true}); err != nil {
					t.Error(err)
				}
				if _, err := s.Do(ctx, urgent); err != nil {
					t.Error(err)
				}
			}
			if err := c.Do(ctx, x.end...).Err(); err != nil {
				t.Fatal(err)
			}
			if !x.urgent {
				if _, err := s.Do(ctx, filled()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestScriptsAreLoadedAgain checks that scripts work after Redis has lost them.
func TestScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t) // all databases of a server share its scripts
	s := newInternal(t, c)
	for range 2 {
		if err := c.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		for n, r := range s.DoAll(t.Context(), []broker.Change{{Set: []broker.Member{{Index: "x", Name: "a"}}}, {Set: []broker.Member{{Index: "x", Name: "b"}}, Urgent: true}}) {
			if r.Err != nil {
				t.Errorf("change %d: %v", n, r.Err)
			}
		}
	}
}
