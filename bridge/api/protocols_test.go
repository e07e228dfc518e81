package api_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// documented matches a message of a document, with who sends or receives it.
var documented = regexp.MustCompile("(?ms)^(The agent|A page|The response) (sends|receives|posts to|is)(?: `([^`]+)`)?[^\n]*:\n\n(?:```|~~~)(json|text)\n(.*?)^(?:```|~~~)$")

// TestProtocolPages sends the messages that the pages about the protocols print,
// in their order, and checks that those which they say are received are.
func TestProtocolPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/protocols/*.md")
	if err != nil || len(pages) != 5 {
		t.Fatal(pages, err)
	}
	for _, path := range pages {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			messages := documented.FindAllStringSubmatch(string(raw), -1)
			if len(messages) == 0 && filepath.Base(path) != "question-broker.md" { // whose messages are Go
				t.Fatal("no messages")
			}
			s := newServer(t)
			s.runs(t)
			x := told{t: t, s: s, ids: map[string]string{}, agent: peer{t, dial(t, s.URL, "agent")}, page: peer{t, dial(t, s.URL, "ana")}}
			for _, m := range messages {
				x.message(m[1], m[2], m[3], m[5])
				if t.Failed() {
					t.Fatalf("after:\n%s", m[0])
				}
			}
		})
	}
}

// told is one run of the exchange on a page.
type told struct {
	t           *testing.T
	s           *server
	agent, page peer
	ids         map[string]string // of the daemon, by those in the document
	response    chan string       // to the last call
}

func (x *told) message(who, does, path, text string) {
	x.t.Helper()
	p := x.page
	if who == "The agent" {
		p = x.agent
	}
	switch does {
	case "sends":
		p.say(x.own(text))
	case "receives":
		x.hears(p, text)
	case "posts to":
		x.response = make(chan string, 1)
		go x.posts(path, x.own(text))
	case "is":
		if got := await.Receive(x.t, "the response", x.response); strings.TrimSpace(got) != strings.TrimSpace(text) {
			x.fits(text, got)
		}
	}
}

// own returns a message with the IDs of the daemon.
func (x *told) own(text string) string {
	for _, id := range slices.Sorted(maps.Keys(x.ids)) {
		text = strings.ReplaceAll(text, id, x.ids[id])
	}
	return text
}

func (x *told) posts(path, body string) {
	r, err := http.NewRequestWithContext(x.t.Context(), http.MethodPost, x.s.URL+path, strings.NewReader(body))
	if err != nil {
		x.response <- err.Error()
		return
	}
	r.Header.Set("Authorization", "Bearer agent")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		x.response <- err.Error()
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		b = []byte(err.Error())
	}
	x.response <- string(b)
}

// hears reads frames until one is the documented one.
func (x *told) hears(p peer, text string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), await.Limit)
	defer cancel()
	var others []string
	for {
		_, b, err := p.Read(ctx)
		if err != nil {
			x.t.Fatalf("%v; received %s; want %s", err, strings.Join(others, "\n"), text)
		}
		if x.fit(text, string(b)) {
			return
		}
		others = append(others, string(b))
		if field(string(b), "type") == "error" {
			x.t.Fatalf("received %s", strings.Join(others, "\n"))
		}
	}
}

func (x *told) fits(text, got string) {
	x.t.Helper()
	if !x.fit(text, got) {
		x.t.Errorf("received %s", got)
	}
}

// fit reports whether a message is the documented one, apart from IDs and
// times, and if so, keeps the IDs.
func (x *told) fit(text, got string) bool {
	x.t.Helper()
	var want, have any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		x.t.Fatalf("%s: %v", text, err)
	}
	ids := maps.Clone(x.ids)
	if json.Unmarshal([]byte(got), &have) != nil || !same(want, have, ids) {
		return false
	}
	x.ids = ids
	return true
}

var made = regexp.MustCompile(`^([0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{13}-\d+)$`)

// same reports whether two values are the same, apart from IDs that nod has made,
// which it adds to ids, and times.
func same(want, have any, ids map[string]string) bool {
	switch want := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok || len(h) != len(want) {
			return false
		}
		for name, v := range want {
			if got, known := h[name]; !known || !same(v, got, ids) {
				return false
			}
		}
		return true
	case []any:
		h, ok := have.([]any)
		return ok && slices.EqualFunc(want, h, func(a, b any) bool { return same(a, b, ids) })
	case string:
		h, ok := have.(string)
		if _, err := time.Parse(time.RFC3339, want); err == nil {
			_, err := time.Parse(time.RFC3339, h)
			return err == nil
		}
		if !ok || !made.MatchString(want) || !made.MatchString(h) {
			return h == want
		}
		if known := ids[want]; known != "" {
			return known == h
		}
		ids[want] = h
		return true
	}
	return want == have
}
