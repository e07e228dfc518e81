package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestEventsAsVerified checks that events carry what was verified, not the
// bytes that Redis holds: another reader could read those in another way.
func TestEventsAsVerified(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t)
	a := x.Ask(samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...))
	q := a.Interaction.Questions[0].ID
	if _, err := x.Person.Respond(x.Ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{q: bridge.TextAnswer("eu")}}); err != nil {
		t.Fatal(err)
	}
	rec := a.End()
	key := rig.Record(rec.Interaction.ID)
	res := x.Field(key, "res")
	x.Set(key, "res", `{"answers":{"`+q+`":"forged"},`+strings.Replace(res, `"answers"`, `"Answers"`, 1)[1:])
	req := x.Field(key, "req")
	x.Set(key, "req", `{"prompt":"forged",`+strings.Replace(req, `"prompt"`, `"Prompt"`, 1)[1:])
	if err := x.Agent.History(x.Ctx, "0", "", func(e bridge.Event) error {
		if e.InteractionID == rec.Interaction.ID && strings.Contains(string(e.Data), "forged") {
			t.Errorf("%s says %s", e.Type, e.Data)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
