package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/nodbridge/nod/bridge/dialect"
)

// details holds everything that an agent has sent about a tool call.
type details struct {
	ID        string            `json:"toolCallId,omitempty"`
	Title     string            `json:"title,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	RawInput  json.RawMessage   `json:"rawInput,omitempty"`
	Content   []json.RawMessage `json:"content,omitempty"`
	Locations []json.RawMessage `json:"locations,omitempty"`
	// Earlier holds the values that a newer message contradicts, newest first.
	Earlier []json.RawMessage `json:"earlier,omitempty"`
	// Unreadable means that nod could not read an update, so the known details
	// may differ from the call that runs.
	Unreadable bool `json:"unreadable,omitempty"`
}

// Unreadable replaces an update that nod cannot read. nod then asks no one
// about the call.
var Unreadable = json.RawMessage(`{"unreadable":true}`)

// maxEarlier limits the number of contradicted values that nod keeps for a
// call.
const maxEarlier = 20

// Update returns the details of a tool call after another update. Both have the
// format of the member toolCall of a request. If an update omits a part, or
// sends it empty, that part does not change.
func Update(was, told json.RawMessage) (json.RawMessage, error) {
	var older, newer details
	if len(was) > 0 {
		if err := dialect.Decode("toolCall", was, &older); err != nil {
			return nil, err
		}
	}
	if err := dialect.Decode("update", told, &newer); err != nil {
		return nil, err
	}
	return dialect.Encode(older.update(newer))
}

// update returns the details after a newer message. It loses nothing:
// contradicted values move to Earlier.
func (d details) update(newer details) details {
	out := details{ID: newer.ID, Title: newer.Title, Kind: newer.Kind, Unreadable: d.Unreadable || newer.Unreadable}
	if out.ID == "" {
		out.ID = d.ID
	}
	if out.Kind == "" {
		out.Kind = d.Kind
	}
	var lost json.RawMessage
	out.RawInput, lost = merge(d.RawInput, newer.RawInput)
	out.Content = union(d.Content, newer.Content)
	out.Locations = union(d.Locations, newer.Locations)
	out.Earlier = append(out.Earlier, newer.Earlier...)
	switch {
	case out.Title == "":
		out.Title = d.Title
	case len(strings.Fields(d.Title)) > 1 && !strings.Contains(out.Title, d.Title):
		out.Earlier = append(out.Earlier, object{"title": text(d.Title)}.raw())
	}
	if lost != nil {
		out.Earlier = append(out.Earlier, lost)
	}
	out.Earlier = append(out.Earlier, d.Earlier...)
	out.Earlier = out.Earlier[:min(len(out.Earlier), maxEarlier)]
	return out
}

// object is a JSON object that keeps the exact encoding of its values.
type object map[string]json.RawMessage

func (o object) raw() json.RawMessage {
	raw, err := dialect.Encode(o)
	if err != nil {
		return nil // decoded values always encode
	}
	return raw
}

// text returns a string as JSON.
func text(s string) json.RawMessage {
	raw, err := dialect.Encode(s)
	if err != nil {
		return nil // decoded strings always encode
	}
	return raw
}

// objectOf returns the members of an object, or nil for another value.
func objectOf(raw json.RawMessage) object {
	var o object
	if len(raw) == 0 || raw[0] != '{' || dialect.Decode("value", raw, &o) != nil {
		return nil
	}
	return o
}

// textOf returns a JSON string.
func textOf(raw json.RawMessage) (s string, ok bool) {
	ok = len(raw) > 0 && raw[0] == '"' && dialect.Decode("value", raw, &s) == nil
	return s, ok
}

// merge returns a value after a newer message, and the part of the older value
// that the message contradicts. Objects are merged member by member.
func merge(was, now json.RawMessage) (latest, lost json.RawMessage) {
	was, now = bytes.TrimSpace(was), bytes.TrimSpace(now)
	switch {
	case isEmpty(now):
		if isEmpty(was) && len(now) > 0 {
			return now, nil
		}
		return was, nil
	case isEmpty(was):
		return now, nil
	}
	older, newer := objectOf(was), objectOf(now)
	if older == nil || newer == nil {
		if extends(was, now) {
			return now, nil
		}
		return now, was
	}
	merged, contradicted := maps.Clone(older), object{}
	for name, value := range newer {
		before, known := older[name]
		if !known {
			merged[name] = value
			continue
		}
		var part json.RawMessage
		if merged[name], part = merge(before, value); part != nil {
			contradicted[name] = part
		}
	}
	if len(contradicted) == 0 {
		return merged.raw(), nil
	}
	return merged.raw(), contradicted.raw()
}

// union returns the items of a newer message, followed by the older items that
// no newer item repeats or extends.
func union(was, now []json.RawMessage) []json.RawMessage {
	out := append([]json.RawMessage(nil), now...)
next:
	for _, item := range was {
		for _, other := range now {
			if extends(item, other) {
				continue next
			}
		}
		out = append(out, item)
	}
	return out
}

// isEmpty reports whether a value is empty, so that it replaces nothing.
func isEmpty(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]":
		return true
	}
	return false
}

// extends reports whether a newer value contains all of an older one. This
// happens while an agent sends a call piece by piece.
func extends(was, now json.RawMessage) bool {
	return within(decoded(was), decoded(now))
}

func decoded(raw json.RawMessage) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	return v
}

func within(was, now any) bool {
	switch was := was.(type) {
	case nil:
		return true
	case string:
		s, ok := now.(string)
		return ok && strings.HasPrefix(s, was)
	case []any:
		list, ok := now.([]any)
		if !ok || len(list) < len(was) {
			return false
		}
		for n := range was {
			if !within(was[n], list[n]) {
				return false
			}
		}
		return true
	case map[string]any:
		fields, ok := now.(map[string]any)
		for name := range was {
			if !ok || !within(was[name], fields[name]) {
				return false
			}
		}
		return ok
	}
	return reflect.DeepEqual(was, now)
}
