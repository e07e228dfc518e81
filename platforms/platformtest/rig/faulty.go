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

// FaultVariable is the environment variable that makes every third event of a kind
// fail in each rig, to find out which tests notice. Its value is the kind and the
// fault, such as "click:lose". A number replaces the three, as in "click:lose:1".
// The kinds are:
//
//   - click: a decision that a daemon stores. It fails, or the store reports
//     success and loses the decision.
//   - edit: a change of a card. The service refuses it, or loses it.
//   - wake: the notice to a daemon that a request has an answer. It is lost with
//     both faults.
//
// With "delay", each event takes 200 ms longer. A slow store or service is not
// a fault, so no test may notice it.
const FaultVariable = "NOD_TEST_FAULT"

// fault makes each nth event of a kind fail. A nil fault does nothing.
type fault struct {
	kind, how string
	nth       int64
	seen      atomic.Int64
}

// lag is the additional duration of a delayed event.
const lag = 200 * time.Millisecond

// errInjected is the error of a failing store.
var errInjected = errors.New("the test makes this command fail")

// injected returns the fault in the environment variable, or nil if it is not
// set.
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

// strikes reports whether this event of a kind must fail. If the fault is a
// delay, strikes waits and returns false.
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

// takes reports whether the fault applies to a command. If so, it sets the
// result of the command.
func (f *fault) takes(cmd redis.Cmder) bool {
	reply, ok := cmd.(*redis.Cmd)
	if _, l, decides := lifeIn(cmd); !ok || !decides || !l.clicked() || !f.strikes("click") {
		return false
	}
	if f.how == "fail" {
		reply.SetErr(errInjected)
	} else {
		// the result of a change with entries in the journal
		reply.SetVal([]any{strconv.FormatInt(time.Now().UnixMilli(), 10), "ok", "1-1", "1-2", "1-3"})
	}
	return true
}

// edits lists parts of the paths of calls that change a card.
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

// dial opens a connection to Redis. With a wake fault, the connection loses
// every nth wake-up.
func (f *fault) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil || f == nil || f.kind != "wake" {
		return c, err
	}
	return &deaf{Conn: c, f: f}, nil
}

// deaf is a connection that loses wake-ups: the first part of a response with
// entries of the journal.
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
