// Package raw reads and writes decoded JSON without Go types for its objects,
// so that an emulator sees every field and every mistake of a bot.
//
// Code belongs here if it works on any JSON value. Code that depends on the
// fields of one service belongs to the emulator of that service.
package raw

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Object is a decoded JSON object of a bot.
type Object = map[string]any

// Str returns a text field, or "" if the field is missing or has another type.
func Str(o Object, key string) string { v, _ := o[key].(string); return v }

// Sub returns an object field, or nil if the field is missing or has another
// type.
func Sub(o Object, key string) Object { v, _ := o[key].(Object); return v }

// List returns an array field, or nil if the field is missing or has another
// type.
func List(o Object, key string) []any { v, _ := o[key].([]any); return v }

// Objects returns the items of an array field. An item that is not an object
// becomes nil.
func Objects(o Object, key string) []Object { return All(List(o, key)) }

// All returns the items of an array as objects. An item that is not an object
// becomes nil.
func All(items []any) []Object {
	out := make([]Object, len(items))
	for n, v := range items {
		out[n], _ = v.(Object)
	}
	return out
}

// Number returns a number field, and reports whether the field is a number.
func Number(o Object, key string) (float64, bool) { v, ok := o[key].(float64); return v, ok }

// Int returns a number of any type as an integer, or 0.
func Int(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

// Text returns a string or a number as a string, or "".
func Text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return fmt.Sprintf("%.0f", x)
	}
	return ""
}

// Clone returns a deep copy with the types of decoded JSON.
func Clone(v any) any {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic("sandbox: stored data does not marshal: " + err.Error())
	}
	var out any
	if err := json.Unmarshal(encoded, &out); err != nil {
		panic("sandbox: stored data does not unmarshal: " + err.Error())
	}
	return out
}

// Copy returns a deep copy of an object.
func Copy(o Object) Object { v, _ := Clone(o).(Object); return v }

// Runes counts the characters of a text.
func Runes(s string) int { return len([]rune(s)) }

// Texts returns every text of a message, including markup.
func Texts(m Object) string {
	var b strings.Builder
	writeTexts(&b, m)
	return b.String()
}

// textKeys lists the fields with text or with nested fields with text, in
// reading order.
var textKeys = []string{
	"content", "title", "description", "footer", "text", "fallback", "blocks", "embeds", "elements", "label",
	"components", "accessory", "caption", "inline_keyboard", "reply_markup",
}

func writeTexts(b *strings.Builder, v any) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			writeTexts(b, e)
		}
	case Object:
		for _, k := range textKeys {
			switch t := x[k].(type) {
			case string:
				b.WriteString(t + " ")
			case nil:
			default:
				writeTexts(b, t)
			}
		}
	}
}

// Write responds with JSON. It keeps a content type that is already set,
// because some services name the charset and others do not.
func Write(w http.ResponseWriter, status int, v any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}
