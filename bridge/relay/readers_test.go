package relay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// seen is a tool call as a parser reads it.
type seen struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (s seen) String() string {
	if len(s.Arguments) == 0 || string(s.Arguments) == "null" {
		s.Arguments = json.RawMessage("{}")
	}
	c, err := proof.Canonical(s.Arguments)
	if err != nil {
		return s.Name + " unreadable " + string(s.Arguments)
	}
	return s.Name + " " + string(c)
}

// python parses lines as lenient servers in Python may: separated at every line
// boundary of str.splitlines, batches unpacked, the first or the last of
// duplicate names, and names matched with or without regard to case.
const python = `
import json, sys
def reader(last, fold):
    def pairs(items):
        out = {}
        for k, v in items:
            if last or k not in out: out[k] = v
        return out
    return pairs
def get(o, name, last, fold):
    hits = [v for k, v in o.items() if k == name or fold and k.lower() == name]
    return (hits[-1] if last else hits[0]) if hits else None
for line in sys.stdin.buffer.read().decode('utf-8', 'replace').splitlines():
    for last in (True, False):
        for fold in (True, False):
            try: m = json.loads(line.lstrip('\ufeff'), object_pairs_hook=reader(last, fold))
            except Exception: continue
            for o in m if isinstance(m, list) else [m]:
                if not isinstance(o, dict): continue
                method, p = get(o, 'method', last, fold), get(o, 'params', last, fold)
                if not isinstance(method, str) or method.strip().lower() != 'tools/call': continue
                if not isinstance(p, dict): p = {}
                print(json.dumps({'name': str(get(p, 'name', last, fold)), 'arguments': get(p, 'arguments', last, fold)}))
`

// node parses lines as split by its module readline.
const node = `
const text = require('fs').readFileSync(0, 'utf8');
for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/)) {
  let m; try { m = JSON.parse(line) } catch { continue }
  for (const o of Array.isArray(m) ? m : [m]) {
    if (o && typeof o.method === 'string' && o.method.trim().toLowerCase() === 'tools/call')
      console.log(JSON.stringify({name: String((o.params ?? {}).name), arguments: (o.params ?? {}).arguments}));
  }
}
`

// goReads parses lines with encoding/json, which matches names without regard
// to case and takes the last of duplicates.
func goReads(said string) []seen {
	var out []seen
	for _, line := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune("\n\r\u0085\u2028\u2029", r) }) {
		batch := []json.RawMessage{}
		if json.Unmarshal([]byte(line), &batch) != nil {
			batch = []json.RawMessage{json.RawMessage(line)}
		}
		for _, one := range batch {
			var m struct {
				Method string
				Params seen
			}
			if json.Unmarshal(one, &m) == nil && strings.EqualFold(strings.TrimSpace(m.Method), "tools/call") {
				out = append(out, m.Params)
			}
		}
	}
	return out
}

func scriptReads(t testing.TB, said string, program string, args ...string) []seen {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Logf("%s is not installed", program)
		return nil
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(said)
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	var out []seen
	for dec := json.NewDecoder(bytes.NewReader(raw)); dec.More(); {
		var s seen
		if err := dec.Decode(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// mutations change a request so that careless parsers disagree about it.
var mutations = []func(r *rand.Rand, s string) string{
	func(r *rand.Rand, s string) string { return strings.Replace(s, `"name"`, capital(r, `"name"`), 1) },
	func(r *rand.Rand, s string) string { return strings.Replace(s, `"method"`, capital(r, `"method"`), 1) },
	func(r *rand.Rand, s string) string { return strings.Replace(s, `"params"`, capital(r, `"params"`), 1) },
	func(r *rand.Rand, s string) string {
		return strings.Replace(s, `"name":`, capital(r, `"name"`)+`:"get_time","name":`, 1)
	},
	func(r *rand.Rand, s string) string {
		return strings.Replace(s, `"arguments":`, capital(r, `"arguments"`)+`:{"x":"rm"},"arguments":`, 1)
	},
	func(r *rand.Rand, s string) string {
		return strings.Replace(s, `"method":`, capital(r, `"method"`)+`:"ping","method":`, 1)
	},
	func(r *rand.Rand, s string) string {
		return strings.Replace(s, `"params":`, `"params":{},`+capital(r, `"params"`)+`:`, 1)
	},
	func(_ *rand.Rand, s string) string { return strings.Replace(s, "tools/call", `tools\/call`, 1) },
	func(_ *rand.Rand, s string) string { return strings.Replace(s, "tools/call", `TOOLS/call`, 1) },
	func(_ *rand.Rand, s string) string { return strings.Replace(s, "name", `\u006eame`, 1) },
	func(_ *rand.Rand, s string) string { return "[" + s + "]" },
	func(_ *rand.Rand, s string) string { return s + s },
	func(r *rand.Rand, s string) string {
		return strings.Replace(s, ",", ","+[]string{"\r", "\t", " ", "\u0085", "\u2028", "\x00", "\ufeff"}[r.IntN(7)], 1)
	},
	func(r *rand.Rand, s string) string {
		return s + []string{"\r", "\u2028", "\u0085", "\v", "\f", "\x1e"}[r.IntN(6)] + s
	},
	func(r *rand.Rand, s string) string { // a message within a string
		inner, _ := json.Marshal("\u2028" + s + "\u0085")
		return strings.Replace(s, `"x":"`, `"y":`+string(inner)+`,"x":"`, 1)
	},
	func(r *rand.Rand, s string) string { // a mix of all mutations
		b := []byte(s)
		b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
		return strings.ReplaceAll(string(b), "\n", " ")
	},
	func(r *rand.Rand, s string) string {
		return strings.Replace(s, `"x":`, `"x":`+strings.Repeat(`{"x":`, r.IntN(200)), 1)
	},
	func(_ *rand.Rand, s string) string {
		return strings.Replace(s, `{"x"`, `{"x":1e2,"z":9007199254740993,"x2"`, 1)
	},
	func(_ *rand.Rand, s string) string { return strings.Replace(s, `"id"`, `"id":null,"Id"`, 1) },
	func(_ *rand.Rand, s string) string { return strings.Replace(s, `"jsonrpc":"2.0",`, "", 1) },
	func(_ *rand.Rand, s string) string {
		return strings.Replace(s, `"params":{`, `"params":{"inputResponses":{"a":1},`, 1)
	},
	func(_ *rand.Rand, s string) string {
		return strings.Replace(s, `"params":{`, `"params":{"_meta":{"Name":"x"},`, 1)
	},
}

// capital changes the case of one letter, or escapes it.
func capital(r *rand.Rand, s string) string {
	at := 1 + r.IntN(len(s)-2)
	switch r.IntN(3) {
	case 0:
		return s
	case 1:
		return s[:at] + fmt.Sprintf(`\u%04x`, s[at]) + s[at+1:]
	}
	return s[:at] + strings.ToUpper(s[at:at+1]) + s[at+1:]
}

func mutated(r *rand.Rand, n int) string {
	tool := []string{"delete_db", "get_time", "drop_db", "set_text"}[r.IntN(4)]
	s := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"x":"%d"}}}`, n, tool, n)
	for range r.IntN(4) {
		s = mutations[r.IntN(len(mutations))](r, s)
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// TestReadersAgree checks that the server's parser, whatever it does with
// duplicate names, letter case, escapes and line breaks, finds exactly the calls
// that people approved and those that the administrator allows by name.
func TestReadersAgree(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	var said strings.Builder
	messages := level.Often(6000, 1500)
	for n := range messages {
		said.WriteString(mutated(r, n) + "\n")
	}
	p := &people{}
	toServer, _ := guard(t, p, relay.Rules{Allow: []string{"get_*"}, Deny: []string{"drop_*"}}, said.String())
	approved := map[string]bool{}
	for _, a := range p.asked {
		name := strings.TrimPrefix(a.Approval.Tool, "db/")
		approved[seen{name, a.Approval.Input}.String()] = true
		var with struct { // answers to forms are shown as well
			Arguments      json.RawMessage `json:"arguments"`
			InputResponses json.RawMessage `json:"inputResponses"`
		}
		if json.Unmarshal(a.Approval.Input, &with) == nil && with.InputResponses != nil {
			approved[seen{name, with.Arguments}.String()] = true
		}
	}
	calls := 0
	for reader, all := range map[string][]seen{
		"go": goReads(toServer), "python": scriptReads(t, toServer, "python3", "-c", python), "node": scriptReads(t, toServer, "node", "-e", node),
	} {
		calls += len(all)
		for _, s := range all {
			if !approved[s.String()] && !strings.HasPrefix(s.Name, "get_") {
				t.Errorf("%s reads %s, which no one approved", reader, s)
			}
		}
	}
	t.Logf("%d approved, %d calls read", len(approved), calls)
	if len(approved) < messages/60 || calls < messages/12 {
		t.Error("almost no message is forwarded, so the test proves nothing")
	}
}

// FuzzGuard checks that no input makes the relay forward a call that no one
// approved, for the most lenient parser.
func FuzzGuard(f *testing.F) {
	r := seed.Rand(f)
	for n := range 200 {
		f.Add([]byte(mutated(r, n)))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		p := &people{deny: true}
		toServer, _ := guard(t, p, relay.Rules{Allow: []string{"get_*"}}, string(said)+"\n")
		for _, s := range goReads(toServer) {
			if !strings.HasPrefix(s.Name, "get_") {
				t.Fatalf("%q became %q", said, toServer)
			}
		}
		for line := range strings.Lines(toServer) {
			var m struct {
				Version string `json:"jsonrpc"`
			}
			if json.Unmarshal([]byte(line), &m) != nil || m.Version != "2.0" {
				t.Fatalf("%q became %q", said, line)
			}
		}
	})
}
