package bridge_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestDisplay checks that no one reads the display name of an account as the name of
// a person.
func TestDisplay(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]bridge.Actor{
		"bo":                                    {Platform: "slack", User: "U2", Name: "Bo Chen", Person: "bo"},
		"Bo Chen":                               {Platform: "slack", User: "U2", Name: "other", Person: "bo", Known: "Bo Chen"},
		"Bo Chen (slack U9, not in the config)": {Platform: "slack", User: "U9", Name: "Bo Chen"},
		"U9 (slack, not in the config)":         {Platform: "slack", User: "U9"},
	} {
		if got := a.Display(); got != want {
			t.Errorf("%+v is shown as %q; want %q", a, got, want)
		}
	}
}
