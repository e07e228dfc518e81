package pigeon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

func TestMain(m *testing.M) {
	kinds.All, sandbox.Kinds = append(kinds.All, Kind), append(sandbox.Kinds, Emulated)
	rig.Main(m)
}

// TestPigeon asks on a platform of a kind that nod does not know otherwise: only a
// responder of its route decides, and the card says the outcome of it.
func TestPigeon(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Quiet: true, HTTPMode: true, Config: func(c *config.Config) {
		c.Connections = map[string]any{Kind.Name: &Settings{Token: config.NewSecret("grain")}}
		c.People["ana"].Accounts[Kind.Name], c.People["bo"].Accounts[Kind.Name] = "P7001", "P7002"
		c.Routes[bridge.DefaultRoute] = config.Route{To: []string{"pigeon:loft-1"}, Responders: []string{"ana"}, Remind: "off"}
	}})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	card := a.On(Kind.Name)
	if text := r.Text(card); !strings.Contains(text, "make deploy") || len(r.Controls(card)) < 2 {
		t.Fatalf("the card has %v and says %q", r.Controls(card), text)
	}
	r.Told("bo", Kind.Name, r.Press("bo", card, "Run command"), "forbidden")
	r.Told("ana", Kind.Name, r.Press("ana", card, "Run command"), "settled")
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Response.Actor.Person != "ana" {
		t.Errorf("the agent gets %+v", rec.Response)
	}
	r.Says(card, "ana")
	r.Eventually("the card is closed", func() bool { return len(r.Controls(card)) == 0 })
}

// TestPigeonConfig checks that the config has the settings and the IDs of the kind, with
// their variables and errors.
func TestPigeonConfig(t *testing.T) {
	t.Parallel()
	const text = `
pigeon: {url: "http://127.0.0.1:1"}
people: {ana: {pigeon: P7}}
groups: {all: {pigeon: F1}}
routes: {default: {to: "pigeon:loft-1", responders: "@all"}}
`
	path := filepath.Join(t.TempDir(), "nod.yaml")
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	c, err := config.Load(path, []string{"PIGEON_TOKEN=grain"})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Connection(Kind).(*Settings)
	if fmt.Sprint(c.Platforms()) != "[pigeon]" || s.Token.Value() != "grain" || c.People["ana"].Account("pigeon") != "P7" || c.Groups["all"].Native["pigeon"] != "F1" || !slices.Contains(c.Secrets(), "grain") {
		t.Errorf("%+v, %+v", c, s)
	}
	for change, want := range map[string]string{
		"loft-1|coop": `invalid ID "coop" (such as loft-1)`, "P7|ana": `people.ana.pigeon: invalid ID "ana" (such as P7)`, "F1|all": "groups.all.pigeon: ", "{url|{ulr": `pigeon: unknown key "ulr"; did you mean "url"?`,
	} {
		old, with, _ := strings.Cut(change, "|")
		write(strings.Replace(text, old, with, 1))
		if _, err := config.Load(path, []string{"PIGEON_TOKEN=grain"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
	write(text)
	if _, err := config.Load(path, nil); err == nil || !strings.Contains(err.Error(), "pigeon.url: not used without pigeon.token") {
		t.Errorf("without a token: %v", err)
	}
}
