package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// opening is the request that every cycle opens: a usual approval, to be shown
// at one place.
func (b *benching) opening() (bridge.Opening, error) {
	id, err := b.store.NewID("", "")
	if err != nil {
		return bridge.Opening{}, err
	}
	now := time.Now().UTC()
	i := bridge.Interaction{
		ID: id,
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "Deploy version 2 to production?", Route: "default", MaxRounds: 1,
			Approval: &bridge.Approval{Tool: "deploy", Input: []byte(`{"command":"kubectl apply -f v2.yaml"}`), Scopes: []bridge.Scope{bridge.ScopeOnce}}, OnTimeout: bridge.OnTimeoutExpire, Hold: bridge.Duration(time.Hour),
		},
		Agent:   "bench",
		Lineage: bridge.Lineage{Round: 1},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "chat", User: "U"}},
		},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(10 * time.Minute)},
		Digest:   strings.Repeat("0", 64),
	}
	silence := bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	return bridge.Opening{Interaction: i, Timeout: silence, AfterHold: silence, Awaited: true}, nil
}

func yes(id bridge.ID) bridge.Settlement {
	actor := bridge.Actor{Platform: "chat", User: "U", Person: "ana"}
	return bridge.Settlement{ID: id, Nonce: "bench", Response: bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &actor, Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC(), Digest: strings.Repeat("0", 64),
	}}
}

// settleAfter is how long after its opening a request is settled: by then its
// caller waits.
const settleAfter = 2 * time.Millisecond

// cycles counts how many cycles a second so many callers get through.
func (b *benching) cycles(ctx context.Context, callers int) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done atomic.Int64
	var over atomic.Bool
	failed := make(chan error, callers)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for !over.Load() {
				if err := b.cycle(ctx); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	for done.Load() < int64(callers) && len(failed) == 0 && ctx.Err() == nil { // warm by then
		bridge.Pause(ctx, settleAfter)
	}
	first, began := done.Load(), time.Now()
	for bridge.Pause(ctx, b.span); done.Load() == first && len(failed) == 0 && ctx.Err() == nil; { // a slow machine
		bridge.Pause(ctx, settleAfter)
	}
	n, took := done.Load()-first, time.Since(began)
	over.Store(true)
	wg.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(n) / took.Seconds(), ctx.Err()
	}
}

func (b *benching) cycle(ctx context.Context) error {
	o, err := b.opening()
	if err != nil {
		return err
	}
	id := o.Interaction.ID
	if _, _, err := b.store.Open(ctx, o); err != nil {
		return err
	}
	settled := make(chan error, 1)
	time.AfterFunc(settleAfter, func() {
		_, _, err := b.store.Settle(ctx, yes(id))
		settled <- err
	})
	rec, err := b.store.Await(ctx, id)
	if err = errors.Join(err, <-settled); err == nil && rec.State != bridge.StateApproved {
		err = bridge.Errorf(bridge.CodeInternal, "a cycle ended %s", rec.State)
	}
	return err
}

func cyclesAgainstPipe(callers int) func(context.Context, *benching) ([]figures, error) {
	return func(ctx context.Context, b *benching) ([]figures, error) {
		value, err := b.cycles(ctx, callers)
		if err != nil {
			return nil, err
		}
		other, err := b.pipe(ctx)
		return []figures{{value, other}}, err
	}
}

// recorder keeps the commands that one cycle sends.
type recorder struct {
	mu   sync.Mutex
	sent [][]any
}

// DialHook implements redis.Hook.
func (*recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.keep(cmd)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r.keep(cmds...)
		return next(ctx, cmds)
	}
}

func (r *recorder) keep(cmds ...redis.Cmder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cmd := range cmds {
		r.sent = append(r.sent, cmd.Args())
	}
}

// record returns the commands of one cycle about an interaction: those that
// hold its id.
func (b *benching) record(ctx context.Context) (bridge.ID, [][]any, error) {
	own := &benching{addr: b.addr}
	client := redis.NewClient(&redis.Options{Addr: b.addr, ContextTimeoutEnabled: true})
	defer client.Close()
	r := &recorder{}
	client.AddHook(r)
	var err error
	if own.store, err = broker.New(ctx, broker.Options{Client: client}); err != nil {
		return "", nil, err
	}
	defer own.store.Close()
	if err := own.cycle(ctx); err != nil { // loads the scripts
		return "", nil, err
	}
	r.mu.Lock()
	r.sent = nil
	r.mu.Unlock()
	if err := own.cycle(ctx); err != nil {
		return "", nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var id bridge.ID
	var out [][]any
	for _, args := range r.sent {
		if id == "" && len(args) > 3 && fmt.Sprint(args[0]) == "evalsha" { // the first is the opening
			key := fmt.Sprint(args[3])
			id = bridge.ID(key[strings.LastIndexByte(key, ':')+1:])
		}
		if id != "" && bytes.Contains(encode(args), []byte(id)) {
			out = append(out, args)
		}
	}
	if id == "" || len(out) < 2 {
		return "", nil, bridge.Errorf(bridge.CodeInternal, "%d commands were recorded", len(out))
	}
	return id, out, nil
}

// encode writes a command as the Redis protocol has it.
func encode(args []any) []byte {
	out := []byte("*" + strconv.Itoa(len(args)) + "\r\n")
	for _, a := range args {
		var text []byte
		switch v := a.(type) {
		case []byte:
			text = v
		default:
			text = fmt.Append(nil, v)
		}
		out = append(out, "$"+strconv.Itoa(len(text))+"\r\n"...)
		out = append(append(out, text...), "\r\n"...)
	}
	return out
}

// Sizes of the pipe: how many cycles are in flight, and how many are prepared
// at a time.
const (
	pipeDepth   = 64
	pipePrepare = 1024
)

// pipe counts how many cycles a second fit through one connection that never
// waits for a reply before it sends more.
func (b *benching) pipe(ctx context.Context) (float64, error) {
	was, commands, err := b.record(ctx)
	if err != nil {
		return 0, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", b.addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	replies := bufio.NewReaderSize(conn, 1<<20)
	var one []byte
	for _, args := range commands {
		one = append(one, encode(args)...)
	}
	done, busy := 0, time.Duration(0)
	for busy < b.span {
		batches := make([][]byte, 0, pipePrepare/pipeDepth) // encoded before the clock runs
		for range pipePrepare / pipeDepth {
			var batch []byte
			for range pipeDepth {
				id, err := bridge.NewID(was.Partition())
				if err != nil {
					return 0, err
				}
				batch = append(batch, bytes.ReplaceAll(one, []byte(was), []byte(id))...)
			}
			batches = append(batches, batch)
		}
		began := time.Now()
		if err := send(conn, replies, batches, pipeDepth*len(commands)); err != nil {
			return 0, err
		}
		busy += time.Since(began)
		done += pipePrepare
	}
	return float64(done) / busy.Seconds(), ctx.Err()
}

// send writes batches, the next while the replies of the last are read.
func send(conn net.Conn, replies *bufio.Reader, batches [][]byte, each int) error {
	wrote := make(chan error, 1)
	go func() {
		for _, batch := range batches {
			if _, err := conn.Write(batch); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	for range len(batches) * each {
		if err := skipReply(replies); err != nil {
			return err
		}
	}
	return <-wrote
}

// skipReply reads one reply; an error reply is an error.
func skipReply(r *bufio.Reader) error {
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:])) // of kinds that have a count
	switch line[0] {
	case '-':
		return bridge.Errorf(bridge.CodeInternal, "redis: %s", strings.TrimSpace(line[1:]))
	case '$':
		if n >= 0 {
			_, err = r.Discard(n + 2)
		}
	case '*':
		for ; n > 0 && err == nil; n-- {
			err = skipReply(r)
		}
	}
	return err
}

// queueCallers is how many ask at a time in the rows with queues.
const queueCallers = 64

func cyclesAgainstQueues(ctx context.Context, b *benching) ([]figures, error) {
	value, err := b.cycles(ctx, queueCallers)
	if err != nil {
		return nil, err
	}
	lists, err := b.replyQueue(ctx)
	if err != nil {
		return nil, err
	}
	out := []figures{{value, lists}}
	if b.peers == "" {
		return out, nil
	}
	rates, err := b.peerRates(ctx)
	return append(out, figures{value, rates["asynq"]}), err
}

// counted is how often something is done in a second while callers go on.
func (b *benching) counted(ctx context.Context, done *atomic.Int64) float64 {
	began := time.Now()
	for bridge.Pause(ctx, b.span); done.Load() == 0 && ctx.Err() == nil; { // a slow machine
		bridge.Pause(ctx, settleAfter)
	}
	return float64(done.Load()) / time.Since(began).Seconds()
}

// replyQueue is the usual way without a broker: a list of requests, and a list
// for each reply. It keeps nothing once it was read.
func (b *benching) replyQueue(ctx context.Context) (float64, error) {
	client := redis.NewClient(&redis.Options{Addr: b.addr, PoolSize: 3 * queueCallers, ContextTimeoutEnabled: true})
	defer client.Close()
	run, stop := context.WithCancel(ctx)
	defer stop()
	var done atomic.Int64
	var wg sync.WaitGroup
	for n := range queueCallers {
		wg.Go(func() { // answers
			for run.Err() == nil {
				got, err := client.BLPop(run, time.Second, "bench:requests").Result()
				if err == nil {
					_ = client.RPush(run, got[1], "yes").Err() // ends with the run
				}
			}
		})
		wg.Go(func() { // asks
			reply := "bench:reply:" + strconv.Itoa(n)
			for run.Err() == nil {
				if client.RPush(run, "bench:requests", reply).Err() == nil && client.BLPop(run, time.Second, reply).Err() == nil {
					done.Add(1)
				}
			}
		})
	}
	rate := b.counted(ctx, &done)
	stop()
	wg.Wait()
	return rate, ctx.Err()
}

// peerRates runs the program of the peers, and returns what it measured by the
// name of the peer.
func (b *benching) peerRates(ctx context.Context) (map[string]float64, error) {
	raw, err := exec.CommandContext(ctx, b.peers, "-addr", b.addr, "-callers", strconv.Itoa(queueCallers), "-span", b.span.String()).Output()
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeUnavailable, err, "--peers: %s", b.peers).WithHint("build it with: make bench")
	}
	var rates map[string]float64
	if err := json.Unmarshal(raw, &rates); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "--peers: %s", b.peers)
	}
	return rates, nil
}

// latencyAgainstPing is how long a caller that waits takes to know, from the
// moment somebody begins to settle.
func latencyAgainstPing(ctx context.Context, b *benching) ([]figures, error) {
	var values, pings []float64
	for end := time.Now().Add(b.span); time.Now().Before(end); {
		o, err := b.opening()
		if err != nil {
			return nil, err
		}
		id := o.Interaction.ID
		if _, _, err := b.store.Open(ctx, o); err != nil {
			return nil, err
		}
		woken := make(chan time.Time, 1)
		go func() {
			if _, err := b.store.Await(ctx, id); err == nil {
				woken <- time.Now()
			}
			close(woken)
		}()
		if !bridge.Pause(ctx, settleAfter) {
			return nil, ctx.Err()
		}
		began := time.Now()
		if err := b.client.Ping(ctx).Err(); err != nil {
			return nil, err
		}
		pings = append(pings, float64(time.Since(began).Microseconds()))
		began = time.Now()
		if _, _, err := b.store.Settle(ctx, yes(id)); err != nil {
			return nil, err
		}
		at, ok := <-woken
		if !ok {
			return nil, bridge.Errorf(bridge.CodeInternal, "a caller was not woken")
		}
		values = append(values, float64(at.Sub(began).Microseconds()))
	}
	return []figures{{median(values), median(pings)}}, nil
}
