package engine

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestOrderOfChecks prints what nod checks before a click and a decision count, and
// checks that docs/architecture.md has the same list.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range (&clicks{}).deciders() {
		names = append(names, d.name)
	}
	for _, d := range (&settler{}).deciders() {
		names = append(names, d.name)
	}
	want := ""
	for n, name := range names {
		line := strconv.Itoa(n+1) + ". " + name
		t.Log(line)
		want += "\n" + line
	}
	if !strings.Contains(string(raw), want+"\n") {
		t.Errorf("docs/architecture.md does not have this list:%s", want)
	}
}
