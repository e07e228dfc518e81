// Package dialecttest contains helpers for the tests of translators.
package dialecttest

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/render/rendertest"
)

var at = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)

// Record returns the record of a request that was answered with resp. If resp
// has no state, the state is answered.
func Record(t testing.TB, r bridge.Request, resp bridge.Response) bridge.Record {
	t.Helper()
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	if resp.State == "" {
		resp.State = bridge.StateAnswered
	}
	if resp.Actor == nil && resp.State != bridge.StateExpired {
		resp.Actor = &bridge.Actor{Platform: "api", User: "ana", Person: "ana"}
	}
	resp.At = at.Add(9 * time.Second)
	return bridge.Record{State: resp.State, Response: &resp, Interaction: bridge.Interaction{
		ID:       "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03",
		Ask:      r.Opened(),
		Schedule: bridge.Schedule{Created: at, Deadline: at.Add(time.Duration(r.Timeout))},
	}}
}

// A Book compares translations with a golden file.
type Book struct {
	mutex   sync.Mutex
	entries map[string]*exchanged
}

// exchanged is the entry of an input in a golden file: the requests, and the
// output of each case.
type exchanged struct {
	In       string           `json:"in"`
	Requests []bridge.Request `json:"requests"`
	// output by case, or the error text if the format cannot express the
	// outcome
	Out map[string]string `json:"out"`
}

// NewBook returns a book that compares its translations with testdata/NAME.json
// at the end of the test. With -update, it writes the file.
func NewBook(t *testing.T, name string) *Book {
	t.Helper()
	b := &Book{entries: map[string]*exchanged{}}
	t.Cleanup(func() {
		var all []*exchanged
		for _, key := range slices.Sorted(maps.Keys(b.entries)) {
			all = append(all, b.entries[key])
		}
		if !t.Failed() && rendertest.Complete() {
			rendertest.Golden(t, name, all)
		}
	})
	return b
}

// Add adds the output of a case. Inputs with the same requests share one entry
// of the file.
func (b *Book) Add(t *testing.T, name, in, out string, requests ...bridge.Request) {
	t.Helper()
	key, err := json.Marshal([]any{in, requests})
	if err != nil {
		t.Fatal(err)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	e := b.entries[string(key)]
	if e == nil {
		e = &exchanged{in, requests, map[string]string{}}
		b.entries[string(key)] = e
	}
	e.Out[name] = out
}

// Golden answers each exchange of a translation with one response, and adds the
// result. It returns the output.
func (b *Book) Golden(t *testing.T, name, in string, tr dialect.Translation, responses ...bridge.Response) string {
	t.Helper()
	out, requests := answer(t, tr, responses)
	b.Add(t, name, in, out, requests...)
	return out
}

func answer(t *testing.T, tr dialect.Translation, responses []bridge.Response) (text string, requests []bridge.Request) {
	t.Helper()
	if len(responses) != len(tr.Exchanges) {
		t.Fatalf("%d responses for %d exchanges", len(responses), len(tr.Exchanges))
	}
	var answers []any
	for n, x := range tr.Exchanges {
		rec := Record(t, x.Request, responses[n])
		requests = append(requests, x.Request)
		a, err := x.Answer(rec)
		if _, ended := errors.AsType[*bridge.EndedError](err); ended {
			return err.Error(), requests
		}
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	out := tr.Answer
	if len(answers) > 0 {
		out = answers[0]
	}
	if tr.Join != nil {
		var err error
		if out, err = tr.Join(answers); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := dialect.Encode(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded), requests
}
