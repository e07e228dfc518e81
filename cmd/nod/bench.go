package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// measure is one row: a figure of nod beside one of something else, taken in
// the same run on the same machine.
type measure struct {
	name, unit, against string
	goal                float64 // of the ratio
	most                bool    // the ratio is to be at most the goal; else at least
	// run returns nod's figure and the other's.
	run func(ctx context.Context, b *benching) (value, other float64, err error)
}

// benchResult is what a row came to: medians over the repeats.
type benchResult struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Against string  `json:"against"`
	Other   float64 `json:"other"`
	Ratio   float64 `json:"ratio"`
	Goal    float64 `json:"goal"`
	OK      bool    `json:"ok"`
}

// benching is what rows measure with.
type benching struct {
	client redis.UniversalClient
	store  *broker.Broker
	addr   string // of the Redis server
	span   time.Duration
}

func benchCommand() *cobra.Command {
	var asJSON bool
	var span time.Duration
	var repeats int
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure how fast the broker is, beside what it could be at best",
		Long: `Measure the broker on a redis-server of its own (found on the PATH, with an
append-only file synced each second), beside a limit or a peer in the same run.
Every figure is the median of the repeats, and what counts is the ratio. It
keeps the machine busy; nothing else should.

A cycle is: open a request, wait for it, settle it, the caller unblocked and the
record read; events and outbox included. The ceiling is the same scripts with
the same arguments, encoded beforehand, and sent through one pipe.`,
		Example: "  nod bench\n  nod bench --span 1s --repeats 1 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repeats < 1 || span < 100*time.Millisecond {
				return bridge.Errorf(bridge.CodeInvalid, "--repeats is at least 1, and --span at least 100ms")
			}
			results, err := bench(cmd.Context(), span, repeats)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"results": results})
			}
			return printBench(cmd.OutOrStdout(), results)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	cmd.Flags().DurationVar(&span, "span", 2*time.Second, "how long each figure is measured")
	cmd.Flags().IntVar(&repeats, "repeats", 3, "how often; the medians count")
	return cmd
}

// measures are the rows.
func measures() []measure {
	return []measure{
		{"cycles, 64 callers", "1/s", "the same scripts through a pipe", 0.7, false, cyclesAgainstPipe(64)},
		{"cycles, 1024 callers", "1/s", "the same scripts through a pipe", 0.7, false, cyclesAgainstPipe(1024)},
		{"cycles, 64 callers", "1/s", "a reply queue with RPUSH and BLPOP, not durable", 1, false, cyclesAgainstQueue},
		{"settle to caller unblocked, p50", "µs", "PING of the same client, p50", 2.5, true, latencyAgainstPing},
	}
}

func bench(ctx context.Context, span time.Duration, repeats int) ([]benchResult, error) {
	addr, stop, err := ownRedis(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	defer client.Close()
	store, err := broker.New(ctx, broker.Options{Client: client})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	b := &benching{client: client, store: store, addr: addr, span: span}
	var out []benchResult
	for _, m := range measures() {
		var values, others []float64
		for range repeats {
			v, o, err := m.run(ctx, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			values, others = append(values, v), append(others, o)
		}
		r := benchResult{Name: m.name, Unit: m.unit, Against: m.against, Value: median(values), Other: median(others), Goal: m.goal}
		r.Ratio = r.Value / r.Other
		r.OK = m.most && r.Ratio <= m.goal || !m.most && r.Ratio >= m.goal
		out = append(out, r)
	}
	return out, nil
}

// median of figures; at least one.
func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func printBench(w io.Writer, results []benchResult) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "what\tnod\tagainst\tthat\tratio\tgoal\t")
	for k, r := range results {
		sign, mark := "≥", "missed"
		if measures()[k].most {
			sign = "≤"
		}
		if r.OK {
			mark = "ok"
		}
		fmt.Fprintf(t, "%s\t%.0f %s\t%s\t%.0f %s\t%.2f\t%s %g\t%s\n", r.Name, r.Value, r.Unit, r.Against, r.Other, r.Unit, r.Ratio, sign, r.Goal, mark)
	}
	return t.Flush()
}

// ownRedis starts a redis-server for the time of the measurements.
func ownRedis(ctx context.Context) (addr string, stop func(), err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, bridge.Wrap(bridge.CodeUnavailable, err, "there is no redis-server").WithHint("install one with: make redis")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr = l.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	if err = errors.Join(err, l.Close()); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "nod-bench-")
	if err != nil {
		return "", nil, err
	}
	server := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", dir, "--loglevel", "warning")
	if err := server.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() {
		_ = server.Process.Kill() // it holds nothing that is to be kept
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	}
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	for c.Ping(ctx).Err() != nil {
		if !bridge.Pause(ctx, 20*time.Millisecond) {
			stop()
			return "", nil, ctx.Err()
		}
	}
	return addr, stop, nil
}
