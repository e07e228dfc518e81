package slack

import (
	"context"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Controls lists the controls of a message.
func Controls(m raw.Object) []core.Control {
	var out []core.Control
	for _, b := range raw.Objects(m, "blocks") {
		if raw.Str(b, "type") == "input" {
			label := raw.Str(raw.Sub(b, "label"), "text")
			out = append(out, core.Control{ID: raw.Str(b, "block_id"), Label: label, Kind: "select"})
		}
		for _, e := range raw.Objects(b, "elements") {
			if raw.Str(e, "type") == "button" {
				label := raw.Str(raw.Sub(e, "text"), "text")
				id, value := raw.Str(e, "action_id"), raw.Str(e, "value")
				out = append(out, core.Control{ID: id, Label: label, Kind: "button", Value: value})
			}
		}
	}
	return out
}

// Controls implements core.Screen.
func (e *Emulator) Controls(m raw.Object) []core.Control { return Controls(m) }

// Message implements core.Screen. It returns no ephemeral messages.
func (e *Emulator) Message(channel, ts string) raw.Object {
	e.Lock()
	defer e.Unlock()
	if c := e.channels[channel]; c != nil {
		return raw.Copy(c.Message(ts))
	}
	return nil
}

// Inputs implements core.Screen.
func (e *Emulator) Inputs(id string) ([]core.Input, bool) {
	e.Lock()
	defer e.Unlock()
	v := e.views[id]
	if v == nil {
		return nil, false
	}
	return inputs(raw.Copy(v.View)), true
}

// inputs returns the inputs of a view or a message.
func inputs(of raw.Object) []core.Input {
	var out []core.Input
	for _, b := range raw.Objects(of, "blocks") {
		if raw.Str(b, "type") == "input" {
			out = append(out, core.Input{ID: raw.Str(b, "block_id"), Element: raw.Sub(b, "element")})
		}
	}
	return out
}

// Pick implements core.Screen. The click carries the options.
func (e *Emulator) Pick(
	ctx context.Context, as string, at core.Place, labels []string, submit string,
) (core.Reaction, error) {
	input, err := core.FindControl(e, at, "select", "")
	if err != nil {
		return core.Reaction{}, err
	}
	var values []string
	for _, in := range inputs(e.Message(at.Channel, at.Message)) {
		if in.ID == input.ID {
			if values, err = core.OptionValues(in.Element, labels); err != nil {
				return core.Reaction{}, err
			}
		}
	}
	return core.PressWith(ctx, e, as, at, submit, map[string][]string{input.ID: values})
}

// Sees implements core.Screen.
func (e *Emulator) Sees(_ string, at core.Place) string {
	return raw.Texts(e.Message(at.Channel, at.Message))
}

// Notes implements core.Screen. It returns the ephemeral messages of a member.
func (e *Emulator) Notes(as string) []string {
	m, err := e.Member(as)
	if err != nil {
		return nil
	}
	e.Lock()
	defer e.Unlock()
	var out []string
	for _, c := range e.channels {
		out = append(out, c.NotesTo(m.ID)...)
	}
	return out
}
