package removed_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/removed"
)

// TestRows checks that each name has one row, and that the row says what to do
// now, as the end of an error message.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, kind := range []removed.Kind{removed.Setting, removed.Command, removed.Flag, removed.Field, removed.Value, removed.Route} {
		seen := map[string]bool{}
		for _, row := range removed.All(kind) {
			if seen[row.Name] {
				t.Errorf("%s %s has two rows", kind, row.Name)
			}
			seen[row.Name] = true
			if row.Instead == "" || strings.ToLower(row.Instead[:1]) != row.Instead[:1] || strings.HasSuffix(row.Instead, ".") {
				t.Errorf("%s %s: %q does not say what to do now", kind, row.Name, row.Instead)
			}
			if got, was := removed.Instead(kind, row.Name); !was || got != row.Instead {
				t.Errorf("%s %s: %q, %v", kind, row.Name, got, was)
			}
		}
	}
}
