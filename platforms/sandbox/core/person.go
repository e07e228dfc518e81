package core

import (
	"context"
	"fmt"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// FindControl returns the control of a message whose label contains a text.
func FindControl(s Service, at Place, kind, label string) (Control, error) {
	m := s.Message(at.Channel, at.Message)
	if m == nil {
		return Control{}, fmt.Errorf("%s: there is no message %s in %s", s.Name(), at.Message, at.Channel)
	}
	for _, c := range s.Controls(m) {
		if c.Kind == kind && strings.Contains(c.Label, label) {
			return c, nil
		}
	}
	return Control{}, fmt.Errorf("%s: nothing on message %s says %q", s.Name(), at.Message, label)
}

// On returns an action of a member on a message.
func On(s Service, as string, at Place, do string) Action {
	return Action{Service: s.Name(), As: as, Do: do, Channel: at.Channel, Message: at.Message}
}

// Press clicks the button whose label contains a text.
func Press(ctx context.Context, s Service, as string, at Place, label string) (Reaction, error) {
	return PressWith(ctx, s, as, at, label, nil)
}

// PressWith clicks a button while the inputs of the message have values.
func PressWith(
	ctx context.Context, s Service, as string, at Place, label string, values map[string][]string,
) (Reaction, error) {
	c, err := FindControl(s, at, "button", label)
	if err != nil {
		return Reaction{}, err
	}
	a := On(s, as, at, "press")
	a.Control, a.Values = c.ID, values
	return s.Act(ctx, a)
}

// Fill submits an open modal. Fields holds the values of its inputs in order:
// typed text or labels of options. A nil value leaves an input unchanged.
func Fill(ctx context.Context, s Service, as, view string, fields [][]string) (Reaction, error) {
	inputs, open := s.Inputs(view)
	if !open {
		return Reaction{}, fmt.Errorf("%s: no modal %q is open", s.Name(), view)
	}
	if len(fields) > len(inputs) {
		return Reaction{}, fmt.Errorf("%s: the modal has %d inputs, not %d", s.Name(), len(inputs), len(fields))
	}
	a := Action{Service: s.Name(), As: as, Do: "submit", View: view, Values: map[string][]string{}}
	for n, given := range fields {
		if given == nil {
			continue
		}
		if len(Options(inputs[n].Element)) > 0 {
			var err error
			if given, err = OptionValues(inputs[n].Element, given); err != nil {
				return Reaction{}, err
			}
		}
		a.Values[inputs[n].ID] = given
	}
	return s.Act(ctx, a)
}

// Options returns the options of an input, including those in groups.
func Options(element raw.Object) []raw.Object {
	out := raw.Objects(element, "options")
	for _, g := range raw.Objects(element, "option_groups") {
		out = append(out, raw.Objects(g, "options")...)
	}
	return out
}

// OptionValues returns the values of the options whose labels contain the
// texts.
func OptionValues(element raw.Object, labels []string) ([]string, error) {
	out := []string{}
	for _, l := range labels {
		value, found := optionValue(element, l)
		if !found {
			return nil, fmt.Errorf("no option says %q", l)
		}
		out = append(out, value)
	}
	return out, nil
}

func optionValue(element raw.Object, label string) (string, bool) {
	for _, o := range Options(element) {
		said := raw.Str(o, "label")
		if t := raw.Sub(o, "text"); t != nil {
			said = raw.Str(t, "text")
		}
		if strings.Contains(said, label) {
			return raw.Str(o, "value"), true
		}
	}
	return "", false
}
