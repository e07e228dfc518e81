package discord

import (
	"context"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Controls lists the controls of a message.
func Controls(m raw.Object) []core.Control {
	kinds := map[int]string{button: "button", stringSelect: "select"}
	var out []core.Control
	for _, o := range components(raw.List(m, "components")) {
		if kind := kinds[kindOf(o)]; kind != "" {
			label := raw.Str(o, "label")
			out = append(out, core.Control{ID: raw.Str(o, "custom_id"), Label: label, Kind: kind})
		}
	}
	return out
}

// Controls implements core.Screen.
func (e *Emulator) Controls(m raw.Object) []core.Control { return Controls(m) }

// Message implements core.Screen.
func (e *Emulator) Message(channel, id string) raw.Object {
	e.Lock()
	defer e.Unlock()
	ch := e.channels[channel]
	if ch == nil {
		return nil
	}
	if m := ch.Message(id); m != nil {
		return raw.Copy(m)
	}
	m, _ := ch.PrivateMessage(id)
	return raw.Copy(m)
}

// Inputs implements core.Screen.
func (e *Emulator) Inputs(view string) ([]core.Input, bool) {
	e.Lock()
	defer e.Unlock()
	shown := e.modals[view]
	if shown == nil {
		return nil, false
	}
	var out []core.Input
	for _, o := range raw.Objects(raw.Copy(shown.Data), "components") {
		if c := raw.Sub(o, "component"); c != nil {
			out = append(out, core.Input{ID: raw.Str(c, "custom_id"), Element: c})
		}
	}
	return out, true
}

// Pick implements core.Screen. Choosing from a select is an action of its own.
func (e *Emulator) Pick(
	ctx context.Context, as string, at core.Place, labels []string, submit string,
) (core.Reaction, error) {
	c, err := core.FindControl(e, at, "select", "")
	if err != nil {
		return core.Reaction{}, err
	}
	values, err := core.OptionValues(findComponent(e.Message(at.Channel, at.Message), c.ID), labels)
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

// Sees implements core.Screen. It omits embeds that the member's client hides
// and adds the content of the files that the message shows.
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

// Notes implements core.Screen. It returns the ephemeral messages of a member.
func (e *Emulator) Notes(as string) []string {
	m, err := e.Member(as)
	if err != nil {
		return nil
	}
	e.Lock()
	defer e.Unlock()
	var out []string
	for _, ch := range e.channels {
		out = append(out, ch.NotesTo(m.ID)...)
	}
	return out
}

// PrivatePlaces returns the places of a member's ephemeral messages, oldest
// first.
func (e *Emulator) PrivatePlaces(as string) []core.Place {
	m, err := e.Member(as)
	if err != nil {
		return nil
	}
	e.Lock()
	defer e.Unlock()
	var out []core.Place
	for _, ch := range e.channels {
		for _, p := range ch.Private {
			if p.User == m.ID {
				out = append(out, core.Place{Service: Name, Channel: ch.ID, Message: raw.Str(p.Message, "id")})
			}
		}
	}
	return out
}
