package bench

import (
	"context"
	"encoding/json"
	"os/exec"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

// peerTimeouts is the number of deadlines at once in the row with PostgreSQL.
const peerTimeouts = 10_000

// peerMeasures returns the rows on other systems that do the core of nod's job.
// Each runs next to the figure of nod that it is compared with.
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
		cycles("asynq doing the whole job, polling every 5 ms", "asynq", queueCallers, 2),
		cycles("asynq doing the whole job, polling every 5 ms", "asynq", 1024, 2),
		cycles("NATS JetStream KV, flushed each second", "nats", queueCallers, 0.8),
		cycles("NATS JetStream KV, flushed each second", "nats", 1024, 0.6),
		{rows: []row{{"cycles, each write flushed, 64 callers", "1/s", "NATS JetStream KV, each write flushed", 2, false}}, run: flushedCycles},
		cycles("PostgreSQL with LISTEN and NOTIFY, synchronous_commit off", "postgres", queueCallers, 2),
		cycles("PostgreSQL with LISTEN and NOTIFY, synchronous_commit off", "postgres", 1024, 2),
		cyclesOfService("Restate, a service with an awakeable", "awakeables", 4),
		cyclesOfService("Restate, a workflow with a durable promise", "promises", 8),
		{rows: []row{{"10,000 timeouts at once", "s", "PostgreSQL, 500 with one statement", 2, true}}, run: peerExpiry},
	}
}

// cyclesOfService compares cycles over HTTP with those of a system that agents
// use over HTTP, too.
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

// peerExpiry measures how long it takes to end requests with one deadline.
func peerExpiry(ctx context.Context, b *harness) ([]figures, error) {
	n := min(peerTimeouts, b.pending)
	run, stop := context.WithCancel(ctx)
	e := engine.New(engine.Options{Store: b.store})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(run) // it ends with run
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

// peer runs the program that measures the peers. It returns a skip if the peer
// is not on this machine.
func (b *harness) peer(ctx context.Context, args ...string) (float64, error) {
	args = append([]string{"-addr", b.addr, "-span", b.span.String()}, args...)
	raw, err := exec.CommandContext(ctx, b.peers, args...).Output()
	if err != nil {
		return 0, bridge.Wrap(bridge.CodeUnavailable, err, "--peers: %s", b.peers).WithHint("build it with: make bench")
	}
	var f peerFigure
	if err := json.Unmarshal(raw, &f); err != nil {
		return 0, bridge.Wrap(bridge.CodeInternal, err, "--peers: %s", b.peers)
	}
	if f.Skipped != "" {
		return 0, skip(f.Skipped)
	}
	return f.Value, nil
}
