package rooms

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestOrder prints in which order the engine asks who takes part in a request and in a
// click, and checks that docs/architecture.md has the same lists.
func TestOrder(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Options: engine.Options{Store: fake.New()}}).seams()
	var openers, deciders, resolvers, workers, showers []string
	for _, x := range s.Openers {
		openers = append(openers, x.Name)
	}
	for _, x := range s.Clicks {
		deciders = append(deciders, x.Name)
	}
	for _, x := range s.Decisions {
		deciders = append(deciders, x.Name)
	}
	for _, x := range s.Resolvers {
		resolvers = append(resolvers, x.Name)
	}
	for _, x := range s.Workers {
		workers = append(workers, "jobs of the kind "+string(x.Kind))
	}
	for _, x := range s.Showers {
		showers = append(showers, x.Name)
	}
	for _, names := range [][]string{openers, deciders, resolvers, workers, showers} {
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
}
