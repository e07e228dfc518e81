package slack_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// card is a call of a bot that shows approvals, questions and forms.
type card struct {
	Name   string
	Method string
	Args   map[string]any
}

func cards(t *testing.T) []card {
	t.Helper()
	encoded, err := os.ReadFile("testdata/cards.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []card
	if err := json.Unmarshal(encoded, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// dealer is a bot that makes the calls of cards.
type dealer struct {
	*bench
	at   core.Place // a message with a button
	last chan slackgo.InteractionCallback
}

func newDealer(t *testing.T) *dealer {
	t.Helper()
	d := &dealer{bench: newDesk(t, slack.Options{}, false), last: make(chan slackgo.InteractionCallback, 9)}
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		if err := json.Unmarshal(payload, &in); err != nil {
			t.Errorf("slack-go cannot read %s: %v", payload, err)
		}
		d.last <- in
		return nil
	})
	d.at = d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))))
	return d
}

// clicked clicks a control and returns what the bot gets.
func (d *dealer) clicked(a core.Action) slackgo.InteractionCallback {
	d.T.Helper()
	a.As, a.Do = "ana", "press"
	if r := d.Act(a); !r.OK {
		d.T.Fatalf("%+v: %+v", a, r)
	}
	return <-d.last
}

// deal makes the call of a card and returns where it is shown.
func (d *dealer) deal(c card) core.Action {
	d.T.Helper()
	args := maps.Clone(c.Args)
	method, shown := c.Method, core.Action{Channel: slack.Channel}
	switch method {
	case "response_url":
		in := d.clicked(core.Action{Channel: d.at.Channel, Message: d.at.Message, Control: "go"})
		encoded, _ := json.Marshal(args)
		resp, err := http.Post(in.ResponseURL, "application/json", strings.NewReader(string(encoded)))
		if err != nil || resp.StatusCode != http.StatusOK {
			d.T.Fatalf("%s: %v %v", c.Name, resp, err)
		}
		resp.Body.Close()
		notes := d.channel(slack.Channel).Private
		shown.Message, _ = notes[len(notes)-1].Message["ts"].(string)
		return shown
	case "views.open":
		in := d.clicked(core.Action{Channel: d.at.Channel, Message: d.at.Message, Control: "go"})
		args["trigger_id"] = in.TriggerID
	case "chat.update":
		posted := d.call("chat.postMessage", `{"channel":"`+slack.Channel+`","text":"x"}`)
		args["ts"] = posted["ts"]
	}
	encoded, _ := json.Marshal(args)
	answer := d.call(method, string(encoded))
	if answer["ok"] != true {
		d.T.Fatalf("%s: %v", c.Name, answer)
	}
	if v, ok := answer["view"].(map[string]any); ok {
		shown = core.Action{}
		shown.View, _ = v["id"].(string)
		return shown
	}
	shown.Message, _ = answer["ts"].(string)
	return shown
}

func (d *bench) channel(id string) core.ChatState {
	d.Hub.Lock()
	defer d.Hub.Unlock()
	for _, c := range d.e.State().Channels {
		if c.ID == id {
			return c
		}
	}
	return core.ChatState{}
}

// blocks returns everything that a place shows.
func (d *bench) blocks(at core.Action) map[string]any {
	if at.View == "" {
		return d.e.Message(at.Channel, at.Message)
	}
	d.Hub.Lock()
	defer d.Hub.Unlock()
	st := d.e.State()
	for _, v := range append(st.Views, st.Homes...) {
		if v.ID == at.View {
			return v.View
		}
	}
	return nil
}

// TestCards checks that every card is accepted and shown, and that every
// control on it works.
func TestCards(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	for _, c := range cards(t) {
		at := d.deal(c)
		shown := d.blocks(at)
		if len(slack.Controls(shown)) == 0 && strings.Contains(c.Name, "pending") {
			t.Errorf("%s has no controls", c.Name)
		}
		for _, control := range slack.Controls(shown) {
			if at.View != "" && control.Kind != "button" {
				continue // the submission sends it
			}
			a := at
			a.Control = control.ID
			if control.Kind == "select" {
				a.Do, a.As, a.Values = "enter", "ana", d.chosen(shown, control.ID)
				d.Act(a)
				continue
			}
			in := d.clicked(a)
			if got := in.ActionCallback.BlockActions; len(got) != 1 || got[0].BlockID == "" || got[0].ActionID == "" {
				t.Errorf("%s: %s sends %+v", c.Name, control.ID, got)
			}
		}
	}
}

// chosen returns the values of the first option of an input.
func (d *bench) chosen(shown map[string]any, key string) map[string][]string {
	for _, b := range shown["blocks"].([]any) {
		e, _ := b.(map[string]any)["element"].(map[string]any)
		if options := core.Options(e); b.(map[string]any)["block_id"] == key && len(options) > 0 {
			return map[string][]string{key: {options[0]["value"].(string)}}
		}
	}
	return nil
}
