package acp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/render"
)

// asked returns the request for a permission after the updates of a call, and
// the text of its card.
func asked(t *testing.T, request string, updates ...string) (bridge.Request, string) {
	t.Helper()
	var details json.RawMessage
	for _, u := range updates {
		var err error
		if details, err = acp.Update(details, json.RawMessage(u)); err != nil {
			t.Fatalf("%s: %v", u, err)
		}
	}
	raw, err := json.Marshal(map[string]any{
		"id": 1, "method": "session/request_permission", "toolCall": details,
		"params": map[string]any{"sessionId": "s", "toolCall": json.RawMessage(request), "options": []map[string]string{{"optionId": "y", "name": "Yes", "kind": "allow_once"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := acp.Request(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	r := tr.Exchanges[0].Request
	if err := r.Normalize(); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	card := render.NewCard(bridge.View{Record: bridge.Record{State: bridge.StatePending, Interaction: bridge.Interaction{Ask: r.Ask, Agent: "agent"}}}, nil)
	return r, card.From + "\n" + card.HeadText() + "\n" + render.PlainText(card.Body)
}

// TestShown checks cards for calls as agents describe them: the words that people
// see, in their order, and the words that they do not see.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, request string
		updates       []string
		want          []string
		without       []string
	}{
		{
			name: "empty input keeps the command", request: `{"toolCallId":"1","rawInput":{}}`,
			updates: []string{`{"toolCallId":"1","kind":"execute","rawInput":{"command":"rm -rf build"}}`}, want: []string{"Run rm -rf build"},
		},
		{
			name: "updates with empty parts", request: `{"toolCallId":"1"}`,
			updates: []string{`{"toolCallId":"1","kind":"execute","title":"x","rawInput":{"command":"ls"}}`, `{"toolCallId":"1","rawInput":{},"content":[],"title":"","kind":null}`}, want: []string{"Run ls"},
		},
		{
			name: "diff without input", request: `{"toolCallId":"1","kind":"edit","rawInput":{},"content":[{"type":"diff","path":"/a.go","oldText":"x\n","newText":"y\n"}]}`,
			want: []string{"Edit /a.go", "-x", "+y"},
		},
		{
			name: "second diff", request: `{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"/a.go"},"content":[{"type":"diff","path":"/a.go","oldText":"x","newText":"y"},{"type":"diff","path":"/etc/passwd","oldText":"root","newText":"evil"}]}`,
			want: []string{"Edit /a.go", "-x", "+y", "/etc/passwd", "-root", "+evil"},
		},
		{
			name: "two diffs", request: `{"toolCallId":"1","kind":"edit","content":[{"type":"diff","path":"/a","newText":"y"},{"type":"diff","path":"/b","oldText":"b","newText":""}]}`,
			want: []string{"Edit 2 files", "/a", "New file", "y", "/b", "-b"},
		},
		{
			name: "contradiction", request: `{"toolCallId":"1","rawInput":{"command":"rm -rf /"}}`,
			updates: []string{`{"toolCallId":"1","kind":"execute","rawInput":{"command":"ls","cwd":"/repo"}}`}, want: []string{"/repo", "Run rm -rf /", "earlier", "ls"},
		},
		{
			name: "call that comes piece by piece", request: `{"toolCallId":"1"}`,
			updates: []string{`{"toolCallId":"1","kind":"execute","rawInput":{"command":"git"}}`, `{"toolCallId":"1","rawInput":{"command":"git push"}}`},
			want:    []string{"Run git push"}, without: []string{"earlier"},
		},
		{
			name: "Gemini CLI", request: `{"toolCallId":"1","status":"pending","title":"rm -rf *.o && make","content":[{"type":"content","content":{"type":"text","text":"[current working directory /repo] (Build)"}}],"locations":[],"kind":"execute"}`,
			want: []string{"Run rm -rf *.o && make", "[current working directory /repo] (Build)"}, without: []string{"Call", "{"},
		},
		{
			name: "Codex", request: `{"toolCallId":"c","kind":"read","title":"cat x","rawInput":{"call_id":"c","turn_id":"1","command":["bash","-lc","cat x"],"cwd":"/repo","reason":"needs it","parsed_cmd":[{"type":"read","cmd":"cat x"}],"available_decisions":["approved","abort"],"additional_permissions":{"network":true}}}`,
			want: []string{"/repo", "Run bash -lc 'cat x'", "needs it", "network"}, without: []string{"parsed_cmd", "available_decisions", "call_id"},
		},
		{
			name: "Codex with input for a process", request: `{"toolCallId":"c","rawInput":{"call_id":"c","turn_id":"1","command":["ls"],"parsed_cmd":[],"process_id":"77","interaction_input":"rm x","source":"agent"}}`,
			want: []string{"Run ls", "rm x", "77", "agent"}, without: []string{"turn_id"},
		},
		{
			name: "tool with names of Codex", request: `{"toolCallId":"c","kind":"other","title":"T","rawInput":{"call_id":"k1","turn_id":"k2","source":"/etc/shadow","process_id":"k3","parsed_cmd":["k4"],"none":[],"command":["ls"]}}`,
			want: []string{"k1", "none", "k4", "k3", "/etc/shadow", "k2"},
		},
		{
			name: "tool with the ID of its call", request: `{"toolCallId":"c","kind":"other","title":"T","rawInput":{"call_id":"c","approval_id":"k1","source":"/etc/shadow"}}`,
			want: []string{"k1", "call_id", "/etc/shadow"},
		},
		{
			name: "Claude", request: `{"toolCallId":"1","kind":"edit","title":"Edit a","rawInput":{"file_path":"/a","old_string":"x","new_string":"y"},"locations":[{"path":"/a"}],"content":[{"type":"diff","path":"/a","oldText":"x","newText":"y"}]}`,
			want: []string{"Edit /a", "-x", "+y"}, without: []string{"{"},
		},
		{
			name: "command twice", request: "{\"toolCallId\":\"1\",\"kind\":\"execute\",\"title\":\"`ls -la`\",\"rawInput\":{\"command\":\"ls -la\"},\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"ls -la\"}}]}",
			want: []string{"Run ls -la"}, without: []string{"says"},
		},
		{
			name: "Kilo", request: `{"toolCallId":"1","title":"npm test","kind":"execute","status":"pending","locations":[],"rawInput":{"command":"npm test","description":"Test it"}}`,
			updates: []string{
				`{"toolCallId":"1","title":"bash","kind":"execute","status":"pending","locations":[{"path":"/repo"}],"rawInput":{"cwd":"/repo"}}`,
				`{"toolCallId":"1","title":"npm test","kind":"execute","status":"in_progress","locations":[{"path":"/repo"}],"rawInput":{"command":"npm test","description":"Test it","cwd":"/repo"}}`,
			},
			want: []string{"/repo", "Run npm test", "Test it"}, without: []string{"locations", "cwd", "earlier", "{"},
		},
		{
			name: "command as code", request: "{\"toolCallId\":\"1\",\"kind\":\"execute\",\"title\":\"bash\",\"rawInput\":{\"command\":\"npm test\"},\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"$ npm test\"}},{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"```sh\\nnpm test\\n```\"}}]}",
			want: []string{"Run npm test"}, without: []string{"$ npm", "sh\nnpm"},
		},
		{
			name: "code in one line", request: "{\"toolCallId\":\"1\",\"kind\":\"execute\",\"rawInput\":{\"command\":\"ls\"},\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"```rm x```\"}}]}",
			want: []string{"Run ls", "rm x"},
		},
		{
			name: "code with more than the command", request: "{\"toolCallId\":\"1\",\"kind\":\"execute\",\"rawInput\":{\"command\":\"npm test\"},\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"```sh\\nnpm test\\n```\\nand ```npm publish```\"}}]}",
			want: []string{"Run npm test", "npm publish"},
		},
		{
			name: "no kind", request: `{"toolCallId":"1","title":"Shell","rawInput":{"command":"ls"}}`, want: []string{"Run ls", "Shell"},
		},
		{
			name: "title with Markdown", request: `{"toolCallId":"1","kind":"delete","title":"Delete *.go and [x](y)","rawInput":{}}`, want: []string{"Delete *.go and [x](y)"},
		},
		{
			name: "other content", request: `{"toolCallId":"1","kind":"other","title":"Send","rawInput":["a",1.50],"content":[{"type":"content","content":{"type":"resource_link","uri":"file:///x"}}],"locations":[{"path":"/p","line":3}]}`,
			want: []string{"Send", "file:///x", "1.50", "/p"},
		},
		{
			name: "names that are taken", request: `{"toolCallId":"1","kind":"other","title":"T","rawInput":{"diffs":"mine"},"content":[{"type":"diff","path":"/a","newText":"n"}]}`, want: []string{"mine", "/a", "n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, card := asked(t, c.request, c.updates...)
			rest := card
			for _, w := range c.want {
				_, after, ok := strings.Cut(rest, w)
				if !ok {
					t.Fatalf("%q is not on the card, or not in this order:\n%s", w, card)
				}
				rest = after
			}
			for _, w := range c.without {
				if strings.Contains(card, w) {
					t.Errorf("%q is on the card:\n%s", w, card)
				}
			}
		})
	}
}

// speaker sends updates of calls in which each word occurs once.
type speaker struct {
	*rand.Rand
	words []string
}

func (s *speaker) word() string {
	w := fmt.Sprintf("w%dx", len(s.words))
	s.words = append(s.words, w)
	return w
}

// update returns a random part of the details of a call.
func (s *speaker) update() string {
	u := map[string]any{"toolCallId": "1"}
	if s.IntN(3) == 0 {
		u["kind"] = []string{"execute", "edit", "delete", "read", "fetch", "other", ""}[s.IntN(7)]
	}
	if s.IntN(2) == 0 {
		u["title"] = s.word() + " " + s.word()
	}
	switch s.IntN(4) {
	case 0:
	case 1:
		u["rawInput"] = map[string]any{}
	default:
		u["rawInput"] = s.input()
	}
	var content, places []any
	for range s.IntN(3) {
		switch s.IntN(4) {
		case 0:
			content = append(content, map[string]any{"type": "diff", "path": s.word(), "oldText": s.word() + "\n", "newText": s.word() + "\n" + s.word()})
		case 1:
			content = append(content, map[string]any{"type": "diff", "path": s.word(), "oldText": nil, "newText": s.word()})
		case 2:
			content = append(content, map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": s.word()}})
		default:
			content = append(content, map[string]any{"type": "terminal", "terminalId": s.word()})
		}
	}
	for range s.IntN(2) {
		places = append(places, map[string]any{"path": s.word()})
	}
	u["content"], u["locations"] = content, places
	raw, _ := json.Marshal(u)
	return string(raw)
}

// input returns a random input with the names that nod knows.
func (s *speaker) input() map[string]any {
	input := map[string]any{}
	for _, name := range []string{"command", "cwd", "file_path", "path", "old_string", "new_string", "content", "url", "diff", "description", "diffs", "earlier"} {
		switch s.IntN(6) {
		case 0:
			input[name] = s.word()
		case 1:
			input[name] = []any{s.word(), map[string]any{name: s.word()}}
		}
	}
	return input
}

// TestShownProperty checks that every word that an agent has sent about a call is
// on its card, whatever the order and the parts of its updates.
func TestShownProperty(t *testing.T) {
	t.Parallel()
	s := &speaker{Rand: seed.Rand(t)}
	for range 1500 {
		s.words = nil
		var updates []string
		for range s.IntN(4) {
			updates = append(updates, s.update())
		}
		request := s.update()
		if len(s.words) == 0 {
			continue // nothing is known of the call, so no one is asked
		}
		_, card := asked(t, request, updates...)
		for _, w := range s.words {
			if !strings.Contains(card, w) {
				t.Fatalf("%q is not on the card of\n%s\n%s\n\n%s", w, strings.Join(updates, "\n"), request, card)
			}
		}
	}
}

// TestWhereCallsRun checks that a call runs in the directory of its session, unless
// it names another.
func TestWhereCallsRun(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{`{"command":"ls"}`: "/repo", `{"command":"ls","cwd":"/other"}`: "/other"} {
		tr, err := acp.Request([]byte(`{"id":1,"method":"session/request_permission","cwd":"/repo","params":{"sessionId":"s","toolCall":{"toolCallId":"c","rawInput":` + input + `},"options":[{"optionId":"y","kind":"allow_once"}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Exchanges[0].Request.Approval.Where; got != want {
			t.Errorf("%s: %q", input, got)
		}
	}
}
