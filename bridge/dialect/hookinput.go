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
	// maxHookText limits a text of a report. People see less of it.
	maxHookText = 16 << 10
	// maxHookValue limits any other value of a report. A larger input was on no
	// card.
	maxHookValue = MaxHookBody / 2
)

// hookMembers holds the members that nod reads of the input of a hook that
// reports, in the order in which it writes them.
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

// HookInput reads the input of an agent's hook. Of a hook that only reports, it
// keeps the members that nod needs, whatever the size and the shape of the
// input. Write never fails. The zero value is not usable; see NewHookInput.
type HookInput struct {
	Skim
	reports func(event string) bool
	names   HookNames
	whole   bytes.Buffer
	long    bool
	marked  int // bytes of a byte-order mark that were dropped
}

// NewHookInput returns a reader for the hooks of an agent, some of whose events
// only report.
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

// SnakeNames are the names of Claude Code, and of agents that follow it.
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

// TrimBOM returns a text without a byte-order mark before it.
func TrimBOM(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte(bom)) }

func (in *HookInput) write(p []byte) (int, error) {
	if in.long = in.long || in.whole.Len()+len(p) > MaxHookBody; !in.long {
		in.whole.Write(p)
	}
	return in.Skim.Write(p)
}

// Event returns the event, or "" if it is missing or ambiguous.
func (in *HookInput) Event() string { return in.Text(in.names.Event) }

// Events returns the different events that the input names.
func (in *HookInput) Events() []string { return in.Texts(in.names.Event) }

// Sessions returns the different sessions that the input names.
func (in *HookInput) Sessions() []string { return in.Texts(in.names.Session) }

// Reports reports whether the event only tells nod something.
func (in *HookInput) Reports() bool { return in.reports(in.Event()) }

// Body returns the input: all of it, or of a report what nod needs. It returns
// CodeInvalid for an input that is too long.
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
// leaves out members that have none.
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

// strict returns a value that strictjson accepts, or nil if there is none. It
// shortens texts, and replaces what is not valid in them. Of a long list, it
// keeps that it is not empty.
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

// shortened returns at most a quarter of maxHookText of a text, so that all
// texts and a value fit into a body however they are escaped.
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
