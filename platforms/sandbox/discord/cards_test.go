package discord_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// endpoint is an application with an interactions endpoint.
type endpoint struct {
	*rawBot
	// answer is the response to every interaction.
	answer atomic.Value
	// got is the last interaction.
	got atomic.Value
}

const quiet = `{"type":6}`

func newEndpoint(t *testing.T) *endpoint {
	ep := &endpoint{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var got raw.Object
		if json.NewDecoder(r.Body).Decode(&got) == nil {
			ep.got.Store(got)
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(ep.answer.Load().(string)))
	}))
	t.Cleanup(server.Close)
	d := newDesk(t, discord.Options{URL: server.URL}, false)
	ep.rawBot = &rawBot{t, d.e, d.Hub, d.URL + "/discord/api/v10/channels/" + discord.Channel + "/messages"}
	ep.answer.Store(quiet)
	return ep
}

// posted sends a message and returns its place.
func (ep *endpoint) posted(body raw.Object) core.Place {
	ep.t.Helper()
	name, data := "", ""
	if files := raw.Objects(body, "attachments"); len(files) > 0 {
		name, data = raw.Str(files[0], "filename"), "#!/bin/sh"
	}
	status, m := ep.call("POST", "", text(body), name, data)
	ep.want("post", "", status, m)
	return at(raw.Str(m, "id"))
}

func text(o raw.Object) string {
	encoded, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// acted fails unless an action of Ana is answered.
func (ep *endpoint) acted(a core.Action) core.Reaction {
	ep.t.Helper()
	a.As = "ana"
	r, err := ep.e.Act(ep.t.Context(), a)
	if err != nil || !r.OK {
		ep.t.Errorf("%+v: %+v %v", a, r, err)
	}
	return r
}

// TestCards checks that the emulator accepts and shows the cards and modals
// that a bot designed for today's Discord sends, and that every control of them
// works.
func TestCards(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/cards/*.json")
	if err != nil || len(names) < 30 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			t.Parallel()
			encoded, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var cards []raw.Object
			if err := json.Unmarshal(encoded, &cards); err != nil {
				t.Fatal(err)
			}
			for _, c := range cards {
				newEndpoint(t).card(c)
			}
		})
	}
}

// card sends a card as a message, as two calls, or as the response to a click.
func (ep *endpoint) card(c raw.Object) {
	ep.t.Helper()
	switch {
	case raw.Sub(c, "create") != nil:
		at := ep.posted(raw.Sub(c, "create"))
		status, m := ep.call("PATCH", "/"+at.Message, text(raw.Sub(c, "edit")), "", "")
		ep.want("edit", "", status, m)
		ep.works(at)
	case c["type"] != nil:
		ep.response(c)
	default:
		ep.works(ep.posted(c))
	}
}

// response sends a card as the response to a click.
func (ep *endpoint) response(c raw.Object) {
	ep.t.Helper()
	var first raw.Object
	if err := json.Unmarshal([]byte(v2(row(press))), &first); err != nil {
		ep.t.Fatal(err)
	}
	on := ep.posted(first)
	ep.answer.Store(text(c))
	r := ep.acted(core.Action{Do: "press", Channel: on.Channel, Message: on.Message, Control: "go"})
	ep.answer.Store(quiet)
	if r.Modal == "" {
		places := ep.e.PrivatePlaces("ana")
		if len(places) != 1 {
			ep.t.Fatal(places)
		}
		ep.works(places[0])
		return
	}
	inputs, _ := ep.e.Inputs(r.Modal)
	values := map[string][]string{}
	for _, in := range inputs {
		if options := raw.Objects(in.Element, "options"); len(options) > 0 {
			values[in.ID] = []string{raw.Str(options[0], "value")}
		} else {
			values[in.ID] = []string{"5"}
		}
	}
	ep.acted(core.Action{Do: "submit", View: r.Modal, Values: values})
	sent := raw.Objects(raw.Sub(ep.got.Load().(raw.Object), "data"), "components")
	if len(sent) != len(raw.Objects(raw.Sub(c, "data"), "components")) {
		ep.t.Errorf("the modal sent %v", sent)
	}
}

// works uses every control of a message.
func (ep *endpoint) works(at core.Place) {
	ep.t.Helper()
	m := ep.e.Message(at.Channel, at.Message)
	want := strings.Count(text(m), `"custom_id"`)
	controls := ep.e.Controls(m)
	if len(controls) != want {
		ep.t.Errorf("the message has %d controls, not %d", len(controls), want)
	}
	for _, c := range controls {
		a := core.Action{Do: "press", Channel: at.Channel, Message: at.Message, Control: c.ID}
		if c.Kind == "select" {
			a.Do, a.Values = "choose", map[string][]string{c.ID: {"0"}}
			if strings.Contains(c.ID, ".b") {
				a.Values[c.ID] = []string{"15"}
			}
		}
		ep.acted(a)
	}
}
