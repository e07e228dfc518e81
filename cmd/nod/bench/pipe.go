package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// recorder records the commands that one cycle sends.
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

// record returns the commands of one cycle that contain the ID of its
// interaction.
func (b *harness) record(ctx context.Context) (bridge.ID, [][]any, error) {
	own := &harness{addr: b.addr}
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

// encode returns a command in the Redis protocol.
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

// Sizes of the pipe: the number of cycles in flight, and the number that are
// prepared at a time.
const (
	pipeDepth   = 64
	pipePrepare = 1024
)

// pipe returns the number of cycles per second through one connection that
// never waits for a reply before it sends more.
func (b *harness) pipe(ctx context.Context) (float64, error) {
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
		batches := make([][]byte, 0, pipePrepare/pipeDepth) // encoded before the measurement starts
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

// send writes each batch while the replies to the previous one are read.
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

// skipReply reads one reply, and returns an error for an error reply.
func skipReply(r *bufio.Reader) error {
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:])) // only some replies have a count
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
