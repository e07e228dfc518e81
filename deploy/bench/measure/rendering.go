package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/slackmsg"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// rendering compares building the messages of a new text for three platforms with
// encoding them.
func rendering(_ context.Context, b *harness) ([]figures, error) {
	o, err := b.opening()
	if err != nil {
		return nil, err
	}
	keys, err := bridge.NewKeyring(bytes.Repeat([]byte("k"), bridge.MinKey))
	if err != nil {
		return nil, err
	}
	texts := 0
	build := func() ([]any, error) {
		i := o.Interaction
		texts++
		i.Prompt = fmt.Sprintf("Deploy **version %d** to `production`?\n\n- 3 migrations\n- restarts the workers, see [the plan](https://ci.example/42)", texts)
		approval := *i.Approval
		approval.Input = fmt.Appendf(nil, `{"command":"kubectl apply -f v%d.yaml"}`, texts)
		i.Approval = &approval
		v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}, 0, nil, keys.Sign)
		s, err := slackmsg.Build(v)
		if err != nil {
			return nil, err
		}
		d, err := discordmsg.Build(v)
		if err != nil {
			return nil, err
		}
		t, err := telegrammsg.Build(v)
		return []any{s, d, t}, err
	}
	messages, err := build()
	if err != nil {
		return nil, err
	}
	before, began := cpuTime(), texts
	took, allocated := b.costOf(func() { _, _ = build() }) // build has succeeded above
	b.processCost(0, "rendering", cpuTime()-before, texts-began)
	encoding, encoded := b.costOf(func() {
		for _, m := range messages {
			_, _ = json.Marshal(m) // as above
		}
	})
	return []figures{{took, encoding}, {allocated, encoded}}, nil
}

// costOf returns the time in µs and the number of allocations of one call of f.
func (b *harness) costOf(f func()) (micros, allocations float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, began := 0, time.Now()
	for ; time.Since(began) < b.span/2; n++ {
		f()
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	return float64(took.Microseconds()) / float64(n), float64(after.Mallocs-before.Mallocs) / float64(n)
}
