// Package peers measures other systems that do the core of nod's job: they
// store a request with a deadline, accept only one decision, tell each decider
// whether it won, and unblock the caller with the answer. Only systems that nod
// is compared with belong here. Start with the interface peer.
package peers

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// peer is a system that does the job. It is safe for concurrent use.
type peer interface {
	// open stores a request and returns a channel that gets its answer.
	open(ctx context.Context, id string, deadline time.Time) (<-chan string, error)
	// decide stores an answer, and reports whether it is the first.
	decide(ctx context.Context, id, answer string) (bool, error)
	close()
}

// config holds the settings of a peer.
type config struct {
	redis   string // address of a Redis server
	callers int
	always  bool // each write is flushed to the disk, instead of one flush a second
}

// A missing error states why a peer cannot be measured on this machine.
type missing string

func (m missing) Error() string { return string(m) }

var peers = map[string]func(context.Context, config) (peer, error){
	"asynq": newAsynq, "nats": newNATS, "postgres": newPostgres, "awakeables": newAwakeables, "promises": newPromises,
}

// result is the output of the program. Exactly one member is set.
type result struct {
	Value   float64 `json:"value,omitempty"` // cycles per second, or seconds until all timeouts are over
	Skipped string  `json:"skipped,omitempty"`
}

// Run measures the peer in args, and prints its figure as JSON. For each
// figure, the benchmark starts it as a separate process.
func Run(ctx context.Context, args []string, stdout io.Writer) error {
	var c config
	f := flag.NewFlagSet("bench peer", flag.ContinueOnError)
	name := f.String("peer", "", "asynq, nats, postgres, awakeables or promises")
	f.StringVar(&c.redis, "addr", "", "address of a Redis server")
	f.IntVar(&c.callers, "callers", 64, "number of concurrent callers")
	f.BoolVar(&c.always, "always", false, "flush each write to the disk")
	span := f.Duration("span", 2*time.Second, "how long to measure")
	timeouts := f.Int("timeouts", 0, "measure this many deadlines at once instead")
	nats := f.String("nats", "", "serve NATS with this configuration file instead")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *nats != "" {
		return serveNATS(*nats)
	}
	value, err := measure(ctx, *name, c, *span, *timeouts)
	out := result{Value: value}
	if m, ok := errors.AsType[missing](err); ok {
		out, err = result{Skipped: m.Error()}, nil
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(out)
}

func measure(ctx context.Context, name string, c config, span time.Duration, timeouts int) (float64, error) {
	start, ok := peers[name]
	if !ok {
		return 0, fmt.Errorf("-peer: unknown peer %q", name)
	}
	p, err := start(ctx, c)
	if err != nil {
		return 0, err
	}
	defer p.close()
	if timeouts == 0 {
		return cycles(ctx, p, c.callers, span)
	}
	s, ok := p.(sweeper)
	if !ok {
		return 0, missing(name + " ends no deadlines")
	}
	return ends(ctx, s, timeouts)
}
