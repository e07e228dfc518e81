package dialect

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

const (
	// MaxHookBody limits the input of a hook that asks, in bytes.
	MaxHookBody = 1 << 20
	// maxHookText limits a text in a report. People see only its start.
	maxHookText = 16 << 10
	// maxHookValue limits any other value in a report. No card can have shown a
	// larger input.
	maxHookValue = MaxHookBody / 2
)

// hookMembers lists the members that nod reads from the input of a hook that
// only reports, in the order in which it writes them.
var hookMembers = []struct {
	name  string
	limit int
}{
	{"hook_event_name", maxHookText},
	{"session_id", maxHookText},
	{"turn_id", maxHookText},
	{"cwd", maxHookText},
	{"transcript_path", maxHookText},
	{"permission_mode", maxHookText},
	{"tool_name", maxHookText},
	{"tool_use_id", maxHookText},
	{"agent_id", maxHookText},
	{"agent_type", maxHookText},
	{"message", maxHookText},
	{"notification_type", maxHookText},
	{"reason", maxHookText},
	{"prompt", maxHookText},
	{"last_assistant_message", maxHookText},
	{"stop_hook_active", maxHookText},
	{"background_tasks", maxHookText},
	{"tool_input", maxHookValue},
}

// HookInput reads the input of an agent's hook. If the hook only reports, it
// keeps only the members that nod needs, regardless of the size and the shape
// of the input. Write never fails. The zero value is not usable; see
// NewHookInput.
type HookInput struct {
	Skim
	reports func(event string) bool
	names   HookNames
	whole   bytes.Buffer
	long    bool
	marked  int // number of dropped bytes of a byte-order mark
}

// NewHookInput returns a reader for the hooks of an agent. The function reports
// whether an event needs no decision.
func NewHookInput(reports func(event string) bool) *HookInput {
	in := &HookInput{reports: reports}
	in.Limits = map[string]int{}
	for _, m := range hookMembers {
		in.Limits[m.name] = m.limit
	}
	return in.Named(SnakeNames)
}

// HookNames are the members of a hook's input that name the event and the session.
type HookNames struct{ Event, Session string }

// SnakeNames are the names that Claude Code and similar agents use.
var SnakeNames = HookNames{"hook_event_name", "session_id"}

// Named sets the names of the members, and returns the reader.
func (in *HookInput) Named(n HookNames) *HookInput {
	in.names = n
	in.Limits[n.Event], in.Limits[n.Session] = maxHookText, maxHookText
	return in
}

// Write implements io.Writer.
func (in *HookInput) Write(p []byte) (int, error) {
	all := len(p)
	for in.marked < len(bom) && len(p) > 0 {
		if p[0] != bom[in.marked] {
			in.marked = len(bom)
			break
		}
		p, in.marked = p[1:], in.marked+1
	}
	_, err := in.write(p)
	return all, err
}

// bom is the byte-order mark of UTF-8, which some shells put before a text.
const bom = "\ufeff"

// TrimBOM removes a byte-order mark from the start of a text.
func TrimBOM(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte(bom)) }

func (in *HookInput) write(p []byte) (int, error) {
	if in.long = in.long || in.whole.Len()+len(p) > MaxHookBody; !in.long {
		in.whole.Write(p)
	}
	return in.Skim.Write(p)
}

// Event returns the event, or "" if it is missing or ambiguous.
func (in *HookInput) Event() string { return in.Text(in.names.Event) }

// Events returns the distinct events in the input.
func (in *HookInput) Events() []string { return in.Texts(in.names.Event) }

// Sessions returns the distinct sessions in the input.
func (in *HookInput) Sessions() []string { return in.Texts(in.names.Session) }

// Reports reports whether the event needs no decision.
func (in *HookInput) Reports() bool { return in.reports(in.Event()) }

// Body returns the complete input, or the necessary members of a report. It
// returns CodeInvalid for an input that is too long.
func (in *HookInput) Body() ([]byte, error) {
	switch {
	case in.Reports():
		return in.report(), nil
	case in.long:
		return nil, bridge.Errorf(bridge.CodeInvalid, "input too long (at most %d bytes)", MaxHookBody)
	}
	return in.whole.Bytes(), nil
}

// report returns the members of a report as JSON that has only one meaning. It
// leaves out ambiguous members.
func (in *HookInput) report() []byte {
	out := []byte{'{'}
	for _, m := range hookMembers {
		v, ok := in.one(m.name)
		if !ok {
			continue
		}
		raw := v.strict()
		if raw == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), m.name...), `":`...), raw...)
	}
	return append(out, '}')
}

// strict returns a value that strictjson accepts, or nil if that is not
// possible. It shortens texts, and replaces invalid parts of them. A long list
// is replaced by a nonempty list.
func (v skimmed) strict() json.RawMessage {
	if text, ok := v.text(); ok {
		raw, err := bridge.EncodeJSON(shortened(text))
		if err != nil {
			return nil
		}
		return raw
	}
	switch {
	case v.long && v.raw[0] == '[':
		return json.RawMessage("[null]")
	case v.long, strictjson.Limits{Depth: strictjson.MaxDepth - 1}.Check(v.raw) != nil:
		return nil
	}
	return v.raw
}

// shortened cuts a text to a quarter of maxHookText, so that all texts and a
// value fit into a body even with escapes.
func shortened(s string) string {
	const most = maxHookText / 4
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
