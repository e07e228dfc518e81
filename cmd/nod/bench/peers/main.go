// Command peers measures other systems for nod bench --peers. Each does the
// core of nod's job: it stores a request with a deadline, one decision wins and
// whoever decides is told, and the caller is unblocked with the answer. It is a
// separate module, so that nod does not depend on its peers. Only systems that
// nod is compared with belong here.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
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

// config says how a peer runs.
type config struct {
	redis   string // address of a Redis server
	callers int
	always  bool // each write is flushed to the disk, instead of one flush a second
}

// A missing error says why a peer cannot be measured on this machine.
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

func main() {
	var c config
	name := flag.String("peer", "", "asynq, nats, postgres, awakeables or promises")
	flag.StringVar(&c.redis, "addr", "", "address of a Redis server")
	flag.IntVar(&c.callers, "callers", 64, "number of concurrent callers")
	flag.BoolVar(&c.always, "always", false, "flush each write to the disk")
	span := flag.Duration("span", 2*time.Second, "how long to measure")
	timeouts := flag.Int("timeouts", 0, "measure this many deadlines at once instead")
	nats := flag.String("nats", "", "serve NATS with this configuration file instead")
	flag.Parse()
	if *nats != "" {
		if err := serveNATS(*nats); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(1)
		}
		return
	}
	value, err := measure(context.Background(), *name, c, *span, *timeouts)
	out := result{Value: value}
	if m, ok := errors.AsType[missing](err); ok {
		out, err = result{Skipped: m.Error()}, nil
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
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
