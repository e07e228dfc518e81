// Package dialecttest contains helpers for the tests of translators.
package dialecttest

import (
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/render/rendertest"
)

var at = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)

// Record returns the record of a request that was answered with resp. If resp
// has no state, it is answered.
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

// Pinned is the content of a golden file: the input, the request, and the
// output for the response.
type Pinned struct {
	In      string         `json:"in"`
	Request bridge.Request `json:"request"`
	Out     string         `json:"out"`
}

// Exchanged is the content of a golden file for a translation.
type Exchanged struct {
	In       string           `json:"in"`
	Requests []bridge.Request `json:"requests"`
	Out      string           `json:"out"` // error text if the format has no form for the outcome
}

// Golden answers each exchange of a translation with one response, and compares
// the result with a golden file. It returns the output.
func Golden(t *testing.T, name, in string, tr dialect.Translation, responses ...bridge.Response) string {
	t.Helper()
	if len(responses) != len(tr.Exchanges) {
		t.Fatalf("%d responses for %d exchanges", len(responses), len(tr.Exchanges))
	}
	pinned := Exchanged{In: in}
	var answers []any
	for n, x := range tr.Exchanges {
		rec := Record(t, x.Request, responses[n])
		pinned.Requests = append(pinned.Requests, x.Request)
		a, err := x.Answer(rec)
		if _, ended := errors.AsType[*bridge.EndedError](err); ended {
			pinned.Out = err.Error()
			rendertest.Golden(t, name, pinned)
			return pinned.Out
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
	b, err := dialect.Encode(out)
	if err != nil {
		t.Fatal(err)
	}
	pinned.Out = string(b)
	rendertest.Golden(t, name, pinned)
	return pinned.Out
}
