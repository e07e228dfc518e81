package broker_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker/redistest"
)

// commands returns the number of commands that Redis has run since the
// statistics were reset, also those in scripts, without EVALSHA and INFO.
func commands(t *testing.T, c *redis.Client) int {
	t.Helper()
	stats, err := c.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, v := range stats["Commandstats"] {
		calls, _, _ := strings.Cut(strings.TrimPrefix(v, "calls="), ",")
		k, err := strconv.Atoi(calls)
		if err != nil {
			t.Fatal(err)
		}
		if name != "cmdstat_evalsha" && name != "cmdstat_info" && !strings.HasPrefix(name, "cmdstat_config") {
			n += k
		}
	}
	return n
}

// TestCommands checks that the usual opening and settlement take few commands,
// of which six are for the lines of two cards.
func TestCommands(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	b := newBroker(t, c, "n")
	open(t, b, nil) // loads the script
	warm := open(t, b, nil)
	if _, _, err := b.Settle(t.Context(), yes(warm.Interaction.ID, "U")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		most int
		key  string
		with func(*bridge.Interaction)
	}{
		"plain":                 {24, "", nil},
		"key, session, webhook": {29, "k", func(i *bridge.Interaction) { i.Session, i.Webhooks = "s", []string{"w"} }},
		"reminder": {26, "", func(i *bridge.Interaction) {
			i.Steps = []bridge.Step{{After: bridge.Duration(time.Minute), Remind: true}}
		}},
		"correlation, front ends": {24, "", func(i *bridge.Interaction) { i.ToolCall = "t" }},
	} {
		o := opening(t, b, test.key, test.with)
		o.RequestDigest = "v:1"
		c.ConfigResetStat(t.Context())
		if _, created, err := b.Open(t.Context(), o); err != nil || !created {
			t.Fatal(created, err)
		}
		if _, won, err := b.Settle(t.Context(), yes(o.Interaction.ID, "U")); err != nil || !won {
			t.Fatal(won, err)
		}
		if n := commands(t, c); n > test.most {
			t.Errorf("%s: %d commands, at most %d are expected", name, n, test.most)
		} else {
			t.Log(name, n)
		}
	}
}
