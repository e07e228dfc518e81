// Package measure has the rows of the benchmark: each measures nod and compares
// it with a limit or with an alternative, in the same run on the same machine.
// Package peers measures the other systems. Start with the function measures,
// which lists the rows.
package measure

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker"
	store "github.com/nodbridge/nod/broker/redis"
)

// row is a line of the table: a figure of nod, and the figure to compare it
// with, which is a limit or was measured in the same run.
type row struct {
	name, unit, against string
	goal                float64 // goal of the ratio; 0 for a row without a goal
	most                bool    // the ratio must be at most the goal, instead of at least
}

// figures holds the results of a row: the figure of nod, and the figure to
// compare it with.
type figures struct{ value, other float64 }

// A skip is the error of a row that has a figure of nod, but no figure to
// compare it with. Its text is the reason.
type skip string

func (s skip) Error() string { return string(s) }

// measure produces the figures of one or more rows.
type measure struct {
	rows []row
	once bool // too slow to repeat
	run  func(ctx context.Context, b *harness) ([]figures, error)
}

// Result is the result of a row: the medians of its repeats.
type Result struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Against string  `json:"against"`
	Other   float64 `json:"other"`
	Ratio   float64 `json:"ratio"`
	Goal    float64 `json:"goal"` // 0 for a figure that is only shown
	Most    bool    `json:"most"` // the ratio must be at most the goal, instead of at least
	OK      bool    `json:"ok"`
	// Others is the largest share of the machine that processes outside of
	// the benchmark used during a repeat. It is 0 on a system without /proc.
	Others float64 `json:"others"`
	// Busy means that Others exceeded a tenth of the machine.
	Busy bool `json:"busy"`
	// Repeats is the number of measurements. It is 1 for a slow one.
	Repeats int `json:"repeats"`
	// Skipped is the reason why there is no figure to compare with. It is empty
	// if there is one.
	Skipped string `json:"skipped,omitempty"`
	// Cost is the processor time of nod in the rows that count operations, and
	// nil in the others.
	Cost *Cost `json:"cost,omitempty"`
}

// harness holds the parts that a measurement needs.
type harness struct {
	client  redis.UniversalClient
	store   *core.Store
	db      broker.Store // database of the store
	addr    string       // address of the Redis server
	self    string       // program of this benchmark
	nod     string       // program
	pid     int          // ID of the measured process; if 0, it is this process
	span    time.Duration
	pending int // pending requests in the rows with many
	costs   *costs
}

// Options configures a run.
type Options struct {
	Span     time.Duration // duration of each measurement
	Repeats  int           // number of measurements; the result is the median
	Pending  int           // pending requests in the rows with many
	Only     string        // only rows whose name contains this
	Peers    bool          // measure other systems, too
	Self     string        // program of this benchmark, which starts itself as a peer
	Nod      string        // nod program whose daemon is measured
	Progress func(Result)
}

// measures returns all measurements, including those of peers if requested.
func measures(peers bool) []measure {
	// A row has a goal if a user would notice that nod misses it. A goal that
	// compares nod with a system that does less work would reward shortcuts.
	byHand, queue := "the same durable work by hand, in MULTI/EXEC", "a reply queue with RPUSH and BLPOP, which keeps nothing"
	out := []measure{
		{rows: []row{{"cycles, 64 callers", "1/s", byHand, 0, false}}, run: cyclesByHand(64)},
		{rows: []row{{"cycles, 1024 callers", "1/s", byHand, 0, false}}, run: cyclesByHand(1024)},
		{rows: []row{{"cycles, 64 callers", "1/s", queue, 0, false}}, run: cyclesAgainstQueue(64)},
		{rows: []row{{"cycles, 1024 callers", "1/s", queue, 0, false}}, run: cyclesAgainstQueue(1024)},
		{rows: []row{{"cycles with key, session and three destinations, 64 callers", "1/s", "cycles without them", 0, false}}, run: fullCycles},
		{rows: []row{{"cycles over HTTP, 64 callers", "1/s", "cycles of the core, without HTTP", 0, false}}, run: cyclesOverHTTP},
		{rows: daemonRows, run: daemonTime},
		{rows: httpRows, once: true, run: callersOverHTTP},
		{rows: socketRows, once: true, run: callersOverWebSocket},
		{rows: []row{{"resolve to caller unblocked, p50", "µs", limited, 1, true}}, run: unblocking},
		{rows: manyRows, once: true, run: many},
		{rows: timeoutRows, once: true, run: timeouts},
		{rows: []row{
			{"rendering for three platforms", "µs", "JSON-encoding the same messages", 0, true},
			{"allocations of the rendering", "", "JSON-encoding the same messages", 0, true},
		}, run: rendering},
		{rows: []row{{"callback, from request to acknowledgment", "µs", "resolving only", 0, true}}, run: inbound},
		{rows: pathRows, once: true, run: wholePath},
		{rows: postingRows(), once: true, run: posting},
		{rows: startRows, run: starting},
	}
	if peers {
		out = append(out, peerMeasures()...)
	}
	return out
}

// Run runs the selected measurements and returns a result for each row.
func Run(ctx context.Context, o Options) ([]Result, error) {
	var out []Result
	for _, m := range measures(o.Peers) {
		if !slices.ContainsFunc(m.rows, func(r row) bool { return strings.Contains(r.name, o.Only) }) {
			continue
		}
		results, err := m.repeat(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.rows[0].name, err)
		}
		for _, r := range results {
			o.Progress(r)
		}
		out = append(out, results...)
	}
	if len(out) == 0 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "-only: no row has %q in its name", o.Only)
	}
	return out, nil
}

// repeat runs a measurement several times and returns the medians.
func (m measure) repeat(ctx context.Context, o Options) ([]Result, error) {
	taken := make([][2][]float64, len(m.rows))
	spent := make([][]Cost, len(m.rows))
	skipped := ""
	repeats, share := o.Repeats, 0.0
	if m.once {
		repeats = 1
	}
	for range repeats {
		from, _ := loadNow()
		used := &costs{rows: map[int]Cost{}}
		f, err := benchOnce(ctx, o, m, used)
		if s, ok := errors.AsType[skip](err); ok {
			skipped, err = s.Error(), nil
		}
		if err != nil {
			return nil, err
		}
		to, _ := loadNow()
		share = max(share, others(from, to))
		for n := range f {
			taken[n][0], taken[n][1] = append(taken[n][0], f[n].value), append(taken[n][1], f[n].other)
		}
		for n, c := range used.rows {
			spent[n] = append(spent[n], c)
		}
	}
	var out []Result
	for n, w := range m.rows {
		r := Result{
			Name: w.name, Unit: w.unit, Against: w.against, Goal: w.goal, Most: w.most, Skipped: skipped,
			Others: share, Busy: share > mostOthers, Repeats: repeats,
			Value: median(taken[n][0]), Other: median(taken[n][1]), Cost: medianCost(spent[n]),
		}
		if r.Skipped == "" {
			r.Ratio = r.Value / r.Other
		}
		r.OK = w.goal == 0 || r.Skipped == "" && (w.most && r.Ratio <= w.goal || !w.most && r.Ratio >= w.goal)
		out = append(out, r)
	}
	return out, nil
}

// benchOnce runs a measurement once, on an empty server.
func benchOnce(ctx context.Context, o Options, m measure, used *costs) ([]figures, error) {
	b := &harness{self: o.Self, nod: o.Nod, span: o.Span, pending: o.Pending, costs: used}
	return b.onEmptyServer(ctx, m.run)
}

// onEmptyServer runs a measurement with a store on a separate Redis server,
// which gets additional arguments.
func (b *harness) onEmptyServer(
	ctx context.Context, run func(context.Context, *harness) ([]figures, error), more ...string,
) ([]figures, error) {
	addr, stop, err := ownRedis(ctx, more...)
	if err != nil {
		return nil, err
	}
	defer stop()
	client := newClient(addr)
	defer client.Close()
	store, db, stopStore, err := openStore(ctx, client)
	if err != nil {
		return nil, err
	}
	defer stopStore()
	own := *b
	own.client, own.store, own.db, own.addr = client, store, db, addr
	return run(ctx, &own)
}

// ownKey signs the requests of the benchmark, and seals its documents. The daemon of the
// row "restart" reads them, so they are sealed for its prefix.
var ownKey = make([]byte, ed25519.SeedSize)

// openStore opens a store with seals on its documents, and returns its
// database.
func openStore(ctx context.Context, client redis.UniversalClient) (*core.Store, broker.Store, func(), error) {
	signer, err := proof.NewSigner(ownKey)
	if err != nil {
		return nil, nil, nil, err
	}
	seals := broker.NewSeals(signer.SealKeys(store.DefaultPrefix)...)
	db, err := store.New(ctx, store.Options{Client: client, Seals: seals})
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := core.New(ctx, db, core.Options{})
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	return s, db, func() { _ = errors.Join(s.Close(), db.Close()) }, nil // neither fails
}

func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
}

// median returns the median of one or more figures.
func median(v []float64) float64 { return percentile(v, 50) }

// percentile returns a percentile of one or more figures.
func percentile(v []float64, p int) float64 {
	slices.Sort(v)
	return v[min(len(v)-1, len(v)*p/100)]
}

// ownRedis starts a redis-server for the measurements.
func ownRedis(ctx context.Context, more ...string) (addr string, stop func(), err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, bridge.Wrap(bridge.CodeUnavailable, err, "redis-server not found").WithHint("install one with: make redis")
	}
	if addr, err = freeAddr(); err != nil {
		return "", nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "nod-bench-")
	if err != nil {
		return "", nil, err
	}
	server := exec.Command(path, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", dir, "--loglevel", "warning"}, more...)...)
	if err := server.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait(); close(ended) }()
	stop = func() {
		_ = server.Process.Kill() // the server holds no data worth keeping
		<-ended
		_ = os.RemoveAll(dir)
	}
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	for c.Ping(ctx).Err() != nil {
		select {
		case err = <-ended:
			err = bridge.Wrap(bridge.CodeUnavailable, err, "redis-server has ended")
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(20 * time.Millisecond):
			continue
		}
		stop()
		return "", nil, err
	}
	return addr, stop, nil
}
