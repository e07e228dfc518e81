package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms"
)

// peerTimeouts is the number of deadlines at once in the row with PostgreSQL.
const peerTimeouts = 10_000

// peerMeasures returns the comparisons with other systems that do the core of
// nod's job. Each other system is measured right after nod.
func peerMeasures() []measure {
	cycles := func(against, peer string, callers int, goal float64) measure {
		name := "cycles, " + strconv.Itoa(callers) + " callers"
		return measure{rows: []row{{name, "1/s", against, goal, false}}, run: func(ctx context.Context, b *harness) ([]figures, error) {
			value, err := b.cycles(ctx, callers)
			if err != nil {
				return nil, err
			}
			b.keepCost(0)
			other, err := b.peer(ctx, "-peer", peer, "-callers", strconv.Itoa(callers))
			return []figures{{value, other}}, err
		}}
	}
	return []measure{
		cycles("asynq doing the whole job, polling every 5 ms", "asynq", queueCallers, 1),
		cycles("asynq doing the whole job, polling every 5 ms", "asynq", 1024, 1),
		cycles("NATS JetStream KV, flushed each second", "nats", queueCallers, 0),
		cycles("NATS JetStream KV, flushed each second", "nats", 1024, 0),
		{rows: []row{{"cycles, each write flushed, 64 callers", "1/s", "NATS JetStream KV, each write flushed", 0, false}}, run: flushedCycles},
		cycles("PostgreSQL with LISTEN and NOTIFY, synchronous_commit off", "postgres", queueCallers, 0),
		cycles("PostgreSQL with LISTEN and NOTIFY, synchronous_commit off", "postgres", 1024, 0),
		cyclesOfService("Restate, a service with an awakeable", "awakeables", 1),
		cyclesOfService("Restate, a workflow with a durable promise", "promises", 1),
		{rows: []row{{"10,000 timeouts at once", "s", "PostgreSQL, 500 with one statement", 0, true}}, run: peerExpiry},
	}
}

// cyclesOfService compares cycles over HTTP with cycles of another system that
// agents use over HTTP.
func cyclesOfService(against, peer string, goal float64) measure {
	return measure{rows: []row{{"cycles over HTTP, 64 callers", "1/s", against, goal, false}}, run: func(ctx context.Context, b *harness) ([]figures, error) {
		value, err := b.cyclesOverHTTP(ctx, peer)
		if err != nil {
			return nil, err
		}
		b.keepCost(0)
		other, err := b.peer(ctx, "-peer", peer, "-callers", strconv.Itoa(httpCallers))
		return []figures{{value, other}}, err
	}}
}

// flushedCycles measures cycles on a Redis server that flushes each write.
func flushedCycles(ctx context.Context, b *harness) ([]figures, error) {
	return b.onEmptyServer(ctx, func(ctx context.Context, b *harness) ([]figures, error) {
		value, err := b.cycles(ctx, queueCallers)
		if err != nil {
			return nil, err
		}
		b.keepCost(0)
		other, err := b.peer(ctx, "-peer", "nats", "-always")
		return []figures{{value, other}}, err
	}, "--appendfsync", "always")
}

// peerExpiry measures the time to end requests with the same deadline.
func peerExpiry(ctx context.Context, b *harness) ([]figures, error) {
	n := min(peerTimeouts, b.pending)
	run, stop := context.WithCancel(ctx)
	e := rooms.New(rooms.Options{Options: engine.Options{Store: b.store, DB: b.db}})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(run) // the engine ends with run
	}()
	defer func() { stop(); <-ended }()
	last := 0.0
	err := inTime(n, func(first time.Time) (err error) {
		_, last, err = b.expire(ctx, n, first, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.keepCost(0)
	other, err := b.peer(ctx, "-peer", "postgres", "-timeouts", strconv.Itoa(n))
	return []figures{{last, other}}, err
}

// peerFigure is the output of the program that measures the peers.
type peerFigure struct {
	Value   float64 `json:"value"`
	Skipped string  `json:"skipped"` // why there is no value
}

// peer measures a peer in a separate process. It returns a skip if the peer is
// not on this machine.
func (b *harness) peer(ctx context.Context, args ...string) (float64, error) {
	args = append([]string{"peer", "-addr", b.addr, "-span", b.span.String()}, args...)
	cmd := exec.CommandContext(ctx, b.self, args...)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("bench %s: %w", strings.Join(args, " "), err)
	}
	var f peerFigure
	if err := json.Unmarshal(raw, &f); err != nil {
		return 0, fmt.Errorf("bench %s: %w", strings.Join(args, " "), err)
	}
	if f.Skipped != "" {
		return 0, skip(f.Skipped)
	}
	return f.Value, nil
}
