package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/render"
)

// TestRunExact checks that nod run asks for exactly the argument list that it
// would run. Two lists never have the same digest, and what JSON cannot represent
// is refused with its place.
func TestRunExact(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	digests := map[string][]string{}
	for range 2000 {
		args := []string{"x"}
		for range r.IntN(4) {
			b := make([]byte, r.IntN(3))
			for n := range b {
				b[n] = "ab\xff\xfe\xc3\xa9'\n"[r.IntN(8)]
			}
			args = append(args, string(b))
		}
		invalid := slices.IndexFunc(args, func(s string) bool { return !utf8.ValidString(s) })
		req, err := runRequest(&asking{timeout: time.Minute}, "", "/bin/x", args, "")
		if invalid >= 0 {
			if want := "argument " + string(rune('0'+invalid)) + ":"; err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%q: %v, want %s", args, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		var in struct {
			Argv []string `json:"argv"`
		}
		if err := json.Unmarshal(req.Approval.Input, &in); err != nil || !slices.Equal(in.Argv, args) {
			t.Fatalf("%q is shown as %q", args, in.Argv)
		}
		digest, err := proof.DigestAsSent(req.Ask)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := digests[digest]; ok && !slices.Equal(other, args) {
			t.Fatalf("%q and %q have the same digest", args, other)
		}
		digests[digest] = args
	}
}

// TestRunStdin checks that the card of nod run names what the command reads from
// standard input.
func TestRunStdin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.sql")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(name string) *os.File {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	pipe, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close(); end.Close() })
	closed := open(path)
	closed.Close()
	for _, c := range []struct {
		name string
		in   *os.File
		want string
	}{{"null", open(os.DevNull), ""}, {"pipe", pipe, "a pipe"}, {"file", open(path), "a file"}, {"device", open("/dev/zero"), "a device"}, {"terminal", open("/dev/ptmx"), "a terminal"}, {"closed", closed, ""}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := readsFrom(c.in)
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Fatalf("%q, want %q", got, c.want)
			}
			req, err := runRequest(&asking{timeout: time.Minute}, "", "/bin/sh", []string{"sh"}, got)
			if err != nil {
				t.Fatal(err)
			}
			card := render.NewCard(bridge.View{Record: bridge.Record{State: bridge.StatePending, Interaction: bridge.Interaction{Ask: req.Ask}}}, nil)
			if text := render.PlainText(card.Body); strings.Contains(text, "whose content is not shown") != (c.want != "") || !strings.Contains(text, c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}
