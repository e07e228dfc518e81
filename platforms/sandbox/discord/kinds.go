package discord

import "github.com/nodbridge/nod/platforms/sandbox/raw"

// Kinds of components: docs.discord.com/developers/components/reference.
const (
	actionRow     = 1
	button        = 2
	stringSelect  = 3
	textInput     = 4
	userSelect    = 5
	roleSelect    = 6
	anySelect     = 7 // users and roles
	channelSelect = 8
	section       = 9
	textDisplay   = 10
	thumbnail     = 11
	gallery       = 12
	fileShown     = 13
	separator     = 14
	container     = 17
	label         = 18
	fileUpload    = 19
	radioGroup    = 21
	checkboxGroup = 22
	checkbox      = 23
)

// Styles of buttons.
const (
	linkButton    = 5
	premiumButton = 6
)

// picksEntity reports whether a select offers users, roles or channels instead
// of options.
func picksEntity(kind int) bool { return kind >= userSelect && kind <= channelSelect }

func kindOf(o raw.Object) int { n, _ := raw.Number(o, "type"); return int(n) }

// components returns components and all nested components in reading order.
func components(items []any) []raw.Object {
	var out []raw.Object
	for _, o := range raw.All(items) {
		if o == nil {
			continue
		}
		out = append(out, o)
		out = append(out, components(raw.List(o, "components"))...)
		for _, key := range []string{"accessory", "component"} {
			if child := raw.Sub(o, key); child != nil {
				out = append(out, components([]any{child})...)
			}
		}
	}
	return out
}

// numberComponents gives each component without an ID the next free ID.
func numberComponents(items []any) {
	all, used := components(items), map[int]bool{}
	for _, o := range all {
		used[raw.Int(o["id"])] = true
	}
	next := 0
	for _, o := range all {
		if raw.Int(o["id"]) != 0 {
			continue
		}
		for next++; used[next]; next++ {
		}
		o["id"] = float64(next)
	}
}
