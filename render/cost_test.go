package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/slackmsg"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// costView returns the view of an approval whose texts contain n.
func costView(tb testing.TB, sign func(bridge.Control) string, n int) bridge.View {
	tb.Helper()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	i := bridge.Interaction{
		ID: "01890a5d-ac96-774b-bcce-b302099a8057",
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Route: "default", MaxRounds: 1,
			Prompt: fmt.Sprintf("Deploy **version %d** to `production`?\n\n- 3 migrations\n- restarts the workers, see [the plan](https://ci.example/42)", n),
			Approval: &bridge.Approval{
				Tool: "deploy", Input: fmt.Appendf(nil, `{"command":"kubectl apply -f v%d.yaml"}`, n), Scopes: []bridge.Scope{bridge.ScopeOnce},
			},
		},
		Agent:   "bench",
		Lineage: bridge.Lineage{Round: 1},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "chat", User: "U"}},
		},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(10 * time.Minute)},
		Digest:   "0000000000000000000000000000000000000000000000000000000000000000",
	}
	return bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}, 0, nil, sign)
}

func costKeys(tb testing.TB) bridge.Keyring {
	tb.Helper()
	keys, err := bridge.NewKeyring(bytes.Repeat([]byte("k"), bridge.MinKey))
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}

// buildAll builds the messages of a view for three platforms.
func buildAll(tb testing.TB, v bridge.View) []any {
	tb.Helper()
	s, err := slackmsg.Build(v)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := discordmsg.Build(v)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := telegrammsg.Build(v)
	if err != nil {
		tb.Fatal(err)
	}
	return []any{s, d, t}
}

func encodeAll(tb testing.TB, messages []any) {
	tb.Helper()
	for _, m := range messages {
		if _, err := json.Marshal(m); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkBuild builds the messages of three platforms, with a text that is new
// each time and with one that was built before, and encodes them as JSON.
func BenchmarkBuild(b *testing.B) {
	keys := costKeys(b)
	texts := 0
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			texts++
			buildAll(b, costView(b, keys.Sign, texts))
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		v := costView(b, keys.Sign, 0)
		for b.Loop() {
			buildAll(b, v)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		messages := buildAll(b, costView(b, keys.Sign, 0))
		for b.Loop() {
			encodeAll(b, messages)
		}
	})
}

// Limits of the allocations of the messages of three platforms, for a text that
// is new and for one that was built before, with room for other versions of Go
// and of the SDKs.
const (
	maxAllocations = 400
	maxAgain       = 300
)

// TestAllocations checks that a card stays cheap to build.
func TestAllocations(t *testing.T) {
	keys := costKeys(t)
	texts := 0
	built := testing.AllocsPerRun(100, func() {
		texts++
		buildAll(t, costView(t, keys.Sign, texts))
	})
	v := costView(t, keys.Sign, 0)
	messages := buildAll(t, v)
	if again := testing.AllocsPerRun(100, func() { buildAll(t, v) }); again > maxAgain {
		t.Errorf("%.0f allocations for a text that was built before", again)
	}
	encoded := testing.AllocsPerRun(100, func() { encodeAll(t, messages) })
	if built > maxAllocations || built > 20*encoded {
		t.Errorf("%.0f allocations, JSON encoding has %.0f", built, encoded)
	}
}
