package proof

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportsOfEarlierVersions checks that exports of each version verify, and
// that a removed or changed entry is found. The first was written by a version
// before the journal, the second in an upgrade: it has logs of both versions.
// The files must not change.
func TestExportsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var keys JWKS
	if err := json.Unmarshal([]byte(read("audit-keys.json")), &keys); err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string]int64{"audit-1.jsonl": 4, "audit-2.jsonl": 9} {
		log := read(name)
		verify := func(log string) AuditReport {
			t.Helper()
			r, err := VerifyAudit(strings.NewReader(log), keys)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := verify(log); len(r.Problems) > 0 || r.Entries != entries || r.Unproven > 0 || r.Unsealed > 0 {
			t.Errorf("%s: %+v", name, r)
		}
		for n, line := range strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n") {
			if !strings.Contains(line, `"decision"`) {
				continue
			}
			if r := verify(strings.Replace(log, line, "", 1)); len(r.Problems) == 0 {
				t.Errorf("%s: it is not found that line %d is missing", name, n+1)
			}
			changed := strings.Replace(line, `"agent":"tester"`, `"agent":"other"`, 1)
			if r := verify(strings.Replace(log, line, changed, 1)); changed == line || len(r.Problems) == 0 {
				t.Errorf("%s: it is not found that line %d was changed", name, n+1)
			}
		}
	}
}
