package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// FaultVariable names an environment variable that makes every third of something
// go wrong in each rig, to find out which tests notice. Its value is what goes
// wrong and how, such as "click:lose", or with another number than three, such as
// "click:lose:1":
//
//   - click: a decision that a daemon stores. It fails, or the store lies: it
//     answers that a decision was stored that it lost.
//   - edit: a change of a card. The service refuses it, or loses it.
//   - wake: the notice to a daemon that a request has an answer. It is lost; to
//     fail is the same.
//
// With "delay", each of them takes 200 ms longer. A slow store or service is right,
// so no test may notice it.
const FaultVariable = "NOD_TEST_FAULT"

// fault makes each nth event of a kind go wrong. Nil is none.
type fault struct {
	kind, how string
	nth       int64
	seen      atomic.Int64
}

// lag is the additional time of what is delayed.
const lag = 200 * time.Millisecond

// errInjected is the error of a store that fails.
var errInjected = errors.New("the test makes this command fail")

// injected returns the fault that the environment asks for.
func injected(t testing.TB) *fault {
	t.Helper()
	value := os.Getenv(FaultVariable)
	if value == "" {
		return nil
	}
	f := &fault{nth: 3}
	kind, rest, _ := strings.Cut(value, ":")
	how, nth, numbered := strings.Cut(rest, ":")
	f.kind, f.how = kind, how
	known := true
	if numbered {
		n, err := strconv.ParseInt(nth, 10, 64)
		f.nth, known = n, err == nil && n > 0
	}
	if !known || !strings.Contains(" click edit wake ", " "+f.kind+" ") || !strings.Contains(" fail lose delay ", " "+f.how+" ") {
		t.Fatalf("%s=%s: want click, edit or wake, a colon, and fail, lose or delay; then perhaps a colon and a number", FaultVariable, value)
	}
	return f
}

// strikes reports whether this event of a kind goes wrong. One that is delayed has
// then been.
func (f *fault) strikes(kind string) bool {
	if f == nil || f.kind != kind || f.seen.Add(1)%f.nth != 0 {
		return false
	}
	if f.how == "delay" {
		time.Sleep(lag)
		return false
	}
	return true
}

// DialHook implements redis.Hook.
func (f *fault) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (f *fault) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f.takes(cmd) {
			return cmd.Err()
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (f *fault) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if left := slices.DeleteFunc(slices.Clone(cmds), f.takes); len(left) > 0 {
			return next(ctx, left)
		}
		return nil
	}
}

// takes reports whether a command goes wrong. It has its result then.
func (f *fault) takes(cmd redis.Cmder) bool {
	reply, ok := cmd.(*redis.Cmd)
	if _, l, decides := lifeIn(cmd); !ok || !decides || !l.clicked() || !f.strikes("click") {
		return false
	}
	if f.how == "fail" {
		reply.SetErr(errInjected)
	} else {
		reply.SetVal([]any{strconv.FormatInt(time.Now().UnixMilli(), 10), "ok", "1-1", "1-2", "1-3"}) // as if it had entries in the journal
	}
	return true
}

// edits are the parts of paths of calls that change a card.
var edits = []string{"chat.update", "editMessageText", "editMessageReplyMarkup"}

// service injects the fault between nod and the services.
func (f *fault) service(next http.Handler) http.Handler {
	if f == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		edit := r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/messages/")
		for _, part := range edits {
			edit = edit || strings.Contains(r.URL.Path, part)
		}
		switch {
		case !edit || !f.strikes("edit"):
			next.ServeHTTP(w, r)
		case f.how == "fail":
			http.Error(w, errInjected.Error(), http.StatusBadGateway)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"ok":true,"result":true,"id":"1","channel":"C","ts":"1.1"}`)
		}
	})
}

// dial opens a connection to Redis that loses every third wake-up.
func (f *fault) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil || f == nil || f.kind != "wake" {
		return c, err
	}
	return &deaf{Conn: c, f: f}, nil
}

// deaf is a connection that loses wake-ups: the first part of an answer with entries
// of the journal.
type deaf struct {
	net.Conn
	f *fault
}

func (d *deaf) Read(b []byte) (int, error) {
	for {
		n, err := d.Conn.Read(b)
		if err != nil || !bytes.Contains(b[:min(n, 48)], []byte("\r\nnod:{nod}:s:journal\r\n")) || !d.f.strikes("wake") {
			return n, err
		}
	}
}
