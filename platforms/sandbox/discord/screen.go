package discord

import (
	"context"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Controls lists the controls of a message that send an interaction to the app.
// Links do not.
func Controls(m raw.Object) []core.Control {
	var out []core.Control
	for _, o := range components(raw.List(m, "components")) {
		id, kind := raw.Str(o, "custom_id"), kindOf(o)
		switch {
		case id == "":
		case kind == button:
			out = append(out, core.Control{ID: id, Label: raw.Str(o, "label"), Kind: "button"})
		case kind == stringSelect || kind == userSelect:
			out = append(out, core.Control{ID: id, Kind: "select"})
		}
	}
	return out
}

// Controls implements core.Screen.
func (e *Emulator) Controls(m raw.Object) []core.Control { return Controls(m) }

// Inputs implements core.Screen.
func (e *Emulator) Inputs(view string) ([]core.Input, bool) {
	e.Lock()
	defer e.Unlock()
	shown := e.modals[view]
	if shown == nil {
		return nil, false
	}
	var out []core.Input
	for _, o := range raw.Objects(shown.Data, "components") {
		if c := raw.Sub(o, "component"); c != nil {
			out = append(out, core.Input{ID: raw.Str(c, "custom_id"), Element: raw.Copy(c)})
		}
	}
	return out, true
}

// Pick implements core.Screen. Each choice in a select is a separate action.
func (e *Emulator) Pick(
	ctx context.Context, as string, at core.Place, labels []string, submit string,
) (core.Reaction, error) {
	c, err := core.FindControl(e, at, "select", "")
	if err != nil {
		return core.Reaction{}, err
	}
	values, err := core.OptionValues(e.withOptions(findComponent(e.Message(at.Channel, at.Message), c.ID)), labels)
	if err != nil {
		return core.Reaction{}, err
	}
	a := core.On(e, as, at, "choose")
	a.Control, a.Values = c.ID, map[string][]string{c.ID: values}
	if r, err := e.Act(ctx, a); err != nil || !r.OK {
		return r, err
	}
	return core.Press(ctx, e, as, at, submit)
}

// Sees implements core.Screen. It omits embeds that the member's client hides,
// and adds the content of the files in the message.
func (e *Emulator) Sees(as string, at core.Place) string {
	shown := e.Message(at.Channel, at.Message)
	m, err := e.Member(as)
	if shown == nil || err != nil {
		return raw.Texts(shown)
	}
	e.Lock()
	defer e.Unlock()
	if e.noEmbeds[m.ID] {
		delete(shown, "embeds")
	}
	said := raw.Texts(shown)
	for _, id := range shownFiles(shown) {
		content, _ := e.files.Get(id)
		said += "\n" + string(content)
	}
	return said
}
