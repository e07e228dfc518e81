package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestReceiptOfARecord changes every leaf of a record: the receipt that comes
// with it no longer proves it. What a receipt does not cover is listed.
func TestReceiptOfARecord(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, route(func(r *config.Route) { r.Quorum = 2 }))
	req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
	a := x.Ask(req)
	x.Press("ana", a.On("slack"), "Run command")
	x.Press("bo", a.On("slack"), "Run command")
	rec := a.End()
	keys, err := x.Agent.Keys(x.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.VerifyRecord(rec); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	outside := []string{
		".revision", ".messages", ".failures", ".late", ".delivered", ".unawaited", ".audit", ".next", ".head", ".completion", ".joined", ".step",
		".interaction.created", ".interaction.told", ".interaction.deadline", ".interaction.destinations", ".interaction.responders", ".interaction.groups", ".interaction.called", ".interaction.steps", ".interaction.proof",
	}
	tried := 0
	for path, now := range altered(t, raw) {
		var changed bridge.Record
		if json.Unmarshal(now, &changed) != nil || slices.ContainsFunc(outside, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		tried++
		if _, err := keys.VerifyRecord(changed); err == nil {
			t.Errorf("%s was changed, and the receipt is good", path)
		}
	}
	if tried < 40 {
		t.Errorf("only %d leaves were tried", tried)
	}
}

// altered are copies of a JSON text with one leaf changed, by its path.
func altered(t *testing.T, raw []byte) map[string][]byte {
	t.Helper()
	read := func() any {
		var v any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	out := map[string][]byte{}
	var paths []string
	leavesOf("", read(), func(path string, v any) any { paths = append(paths, path); return v })
	for _, p := range paths {
		text, err := json.Marshal(leavesOf("", read(), func(path string, v any) any {
			if path != p {
				return v
			}
			return other(v)
		}))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, raw) {
			out[p] = text
		}
	}
	return out
}

// leaves is a value with every leaf as f makes it.
func leavesOf(path string, v any, f func(string, any) any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = leavesOf(path+"."+k, e, f)
		}
	case []any:
		for n, e := range x {
			x[n] = leavesOf(fmt.Sprintf("%s[%d]", path, n), e, f)
		}
	case nil:
	default:
		return f(path, v)
	}
	return v
}

// other is another leaf of the same type.
func other(v any) any {
	switch x := v.(type) {
	case json.Number:
		if x == "0" {
			return json.Number("1")
		}
		return json.Number(string(x) + "1")
	case bool:
		return !x
	case string:
		if at, err := time.Parse(time.RFC3339Nano, x); err == nil {
			return at.Add(time.Second).Format(time.RFC3339Nano)
		}
		if d, err := time.ParseDuration(x); err == nil {
			return (d + time.Second).String()
		}
		return x + "x"
	}
	return v
}
