package engine

import (
	"github.com/nodbridge/nod/bridge"
)

// readInputs converts the inputs of a click, which refer to fields and options
// by index, into answers. It returns false for an invalid index.
func (a *Click) readInputs() bool {
	a.answers, a.others, a.parts = map[string]bridge.Answer{}, map[string]string{}, map[string]bridge.Input{}
	for n, in := range a.Inputs {
		if n < 0 || n >= len(a.fields) {
			return false
		}
		f := a.fields[n]
		values := []string{}
		if f.FreeText() {
			in.Options = nil
		}
		for _, o := range in.Options {
			if o < 0 || o >= len(f.Options) {
				return false
			}
			values = append(values, f.Options[o].Value)
		}
		switch {
		case in.KeepOptions:
		case f.FreeText():
			a.answers[f.ID] = bridge.TextAnswer(in.Text)
		case f.Multiple() || len(values) > 1: // Check rejects several values for a field with one value
			a.answers[f.ID] = bridge.ListAnswer(values...)
		case len(values) == 1:
			a.answers[f.ID] = bridge.TextAnswer(values[0])
		default:
			a.answers[f.ID] = bridge.Answer{}
		}
		if in.Part {
			a.parts[f.ID] = in
		}
		if in.Other != "" {
			a.others[f.ID] = in.Other
		}
	}
	return true
}
