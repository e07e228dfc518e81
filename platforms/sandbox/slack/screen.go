package slack

import (
	"context"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Controls implements core.Screen.
func (e *Emulator) Controls(m raw.Object) []core.Control { return Controls(m) }

// Inputs implements core.Screen.
func (e *Emulator) Inputs(id string) ([]core.Input, bool) {
	e.Lock()
	defer e.Unlock()
	v := e.find(id)
	if v == nil {
		return nil, false
	}
	return inputs(raw.Copy(v.View)), true
}

// inputs returns the elements of a view or a message that keep a member's
// input.
func inputs(of raw.Object) []core.Input {
	var out []core.Input
	for _, s := range slots(raw.Objects(of, "blocks")) {
		out = append(out, core.Input{ID: s.key, Element: s.element})
	}
	return out
}

// Pick implements core.Screen. An input keeps the chosen options until the
// click. Any other element sends them at once.
func (e *Emulator) Pick(
	ctx context.Context, as string, at core.Place, labels []string, submit string,
) (core.Reaction, error) {
	menu, err := core.FindControl(e, at, "select", "")
	if err != nil {
		return core.Reaction{}, err
	}
	found, _ := findControl(raw.Objects(e.Message(at.Channel, at.Message), "blocks"), menu.ID)
	for _, in := range slots(raw.Objects(e.Message(at.Channel, at.Message), "blocks")) {
		alone := in.key == menu.ID
		if !alone && !same(in.element, found.element) {
			continue
		}
		values, err := core.OptionValues(in.element, labels)
		if err != nil {
			return core.Reaction{}, err
		}
		given := map[string][]string{in.key: values}
		if alone {
			return core.PressWith(ctx, e, as, at, submit, given)
		}
		a := core.On(e, as, at, "press")
		a.Control, a.Values = menu.ID, given
		if r, err := e.Act(ctx, a); err != nil || r.Warning != "" {
			return r, err
		}
		return core.Press(ctx, e, as, at, submit)
	}
	return core.Reaction{}, e.Errorf("nothing to choose on %s", at.Message)
}
