package history

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// TestConfirmed checks each event against each state of what is stored: an event says
// only what the documents say, and a request that is gone is told without its text.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	gone := bridge.Errorf(bridge.CodeNotFound, "gone")
	stored := func(state bridge.State, response bool) core.Found {
		f := core.Found{Docs: &life.Docs{Life: life.Life{Agent: "ci", Session: "s", State: state}}}
		if response {
			f.Life.Response = &bridge.Response{State: state}
		}
		return f
	}
	other, broken := stored(bridge.StateApproved, true), stored(bridge.StateApproved, true)
	other.Life.Agent, broken.Problem = "cd", "forged"
	for name, c := range map[string]struct {
		event bridge.EventType
		state bridge.State
		found core.Found
		good  bool
		data  string // "kept" is what the event had
		fails bool
	}{
		// Documents that no store has read have no text to tell.
		"a request":                            {bridge.EventRequest, "", stored("", false), true, "", false},
		"a request that is gone":               {bridge.EventRequest, "", core.Found{Err: gone}, true, "", false},
		"a widened request that is gone":       {bridge.EventWidened, "", core.Found{Err: gone}, true, "", false},
		"a decision on what is gone":           {bridge.EventResponse, bridge.StateApproved, core.Found{Err: gone}, false, "kept", false},
		"an expiry of what is gone":            {bridge.EventResponse, bridge.StateExpired, core.Found{Err: gone}, true, "kept", false},
		"a decision":                           {bridge.EventResponse, bridge.StateApproved, stored(bridge.StateApproved, true), true, "new", false},
		"a decision without a response":        {bridge.EventResponse, bridge.StateApproved, stored(bridge.StateApproved, false), false, "kept", false},
		"a decision other than the stored one": {bridge.EventResponse, bridge.StateDenied, stored(bridge.StateApproved, true), false, "kept", false},
		"a decision for another agent":         {bridge.EventResponse, bridge.StateApproved, other, false, "kept", false},
		"a decision that does not verify":      {bridge.EventResponse, bridge.StateApproved, broken, false, "kept", false},
		"a vote":                               {bridge.EventVoted, "", stored("", false), true, "kept", false},
		"a store that cannot be read":          {bridge.EventResponse, bridge.StateApproved, core.Found{Err: errors.New("no connection")}, false, "kept", true},
	} {
		e := bridge.Event{Type: c.event, State: c.state, Agent: "ci", SessionID: "s", Data: json.RawMessage(`"kept"`)}
		good, err := (&Reader{}).confirmed(&e, c.found)
		data := string(e.Data)
		switch {
		case data == `"kept"`:
			data = "kept"
		case data != "":
			data = "new"
		}
		if good != c.good || (err != nil) != c.fails || data != c.data {
			t.Errorf("%s: %t with the data %q, %v; want %t with %q", name, good, data, err, c.good, c.data)
		}
	}
}
