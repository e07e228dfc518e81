package broker

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestDecodeHostile checks that a record whose fields were changed at random is
// decoded or refused, without a panic: a caller that waits decodes it on a goroutine
// whose panics end the process.
func TestDecodeHostile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "records-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Fields map[string]string }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	parts := []string{"", "|", "\x1e", "\x1f", "\n", ",", "-1", "99999999999999999999", "null", "[]", "{}", `"`, "\xff", "0", ";"}
	r := rand.New(rand.NewPCG(18, 2))
	some := func(m map[string]string) (name string) {
		n := r.IntN(len(m))
		for name = range m {
			if n--; n < 0 {
				break
			}
		}
		return name
	}
	refused := 0
	for range 20_000 {
		fields := map[string]string{}
		for k, v := range all[r.IntN(len(all))].Fields {
			fields[k] = v
		}
		for range 1 + r.IntN(3) {
			name := recordFields[r.IntN(len(recordFields))].name
			if r.IntN(2) == 0 {
				name = some(fields)
			}
			if name[len(name)-1] == '#' {
				name = name[:1] + []string{"0", "1", "-1", "31", "32", "99999999999"}[r.IntN(6)]
			}
			v := fields[name]
			if r.IntN(3) == 0 {
				v = all[r.IntN(len(all))].Fields[some(all[0].Fields)]
			}
			from := r.IntN(len(v) + 1)
			to := min(len(v), from+r.IntN(4))
			fields[name] = v[:from] + parts[r.IntN(len(parts))] + v[to:]
		}
		rec, err := decodeRecord("01a207da-1984-72be-a203-08674f5e110b", fields)
		if err != nil {
			refused++
			continue
		}
		if _, err := bridge.EncodeJSON(&rec); err != nil {
			refused++
		}
	}
	if refused < 1000 {
		t.Errorf("only %d were refused", refused)
	}
}
