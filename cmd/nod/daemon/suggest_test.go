package daemon_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

var hashReads = regexp.MustCompile(`cmdstat_hgetall:calls=(\d+)`)

// TestSuggestionsReadLittle checks that a person who types the argument of a
// command does not make nod read all pending requests at each key.
func TestSuggestionsReadLittle(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord"), OwnRedis: true})
	const pending, keys = 100, 25
	for n := range pending {
		req := samples.One(bridge.WidgetText)
		req.Prompt, req.Grace = fmt.Sprintf("Question %d", n), bridge.Duration(bridge.MaxGrace/20)
		if _, err := r.Agent.Open(r.Ctx, req, ""); err != nil {
			t.Fatal(err)
		}
	}
	reads := func() int {
		info, err := r.Bare.Info(r.Ctx, "commandstats").Result()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if hit := hashReads.FindStringSubmatch(info); hit != nil {
			n, _ = strconv.Atoi(hit[1])
		}
		return n
	}
	before := reads()
	ana := bridge.Actor{Platform: "discord", User: "300000000000000001"}
	for n := range keys {
		typed := "question 7"[:min(n, len("question 7"))]
		found, err := r.Daemons[0].Engine().Suggest(r.Ctx, bridge.Command{
			Actor: ana, Channels: []string{sandbox.DiscordChannel}, Text: "show " + typed,
		}, 25)
		if err != nil || len(found) == 0 {
			t.Fatalf("%d suggestions for %q: %v", len(found), typed, err)
		}
	}
	if n := reads() - before; n > 3*pending {
		t.Errorf("%d keys read %d hashes of %d pending requests", keys, n, pending)
	}
}
