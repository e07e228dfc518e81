package telegram

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// markup reads and checks the reply_markup of a message.
func markup(a arguments) (raw.Object, *failure) {
	markup, bad := a.object("reply_markup", "reply keyboard markup")
	if markup == nil {
		return nil, bad
	}
	if raw.Runes(raw.Str(markup, "input_field_placeholder")) > maxPlaceholder {
		return nil, badRequest("reply markup placeholder is too long")
	}
	rows, inline := markup["inline_keyboard"].([]any)
	if !inline {
		return markup, nil
	}
	shown := raw.Object{}
	if a.server >= keyboardReplies && markup["force_reply"] == true {
		shown["force_reply"] = true
	}
	return shown, inlineKeyboard(shown, rows, a.server)
}

// inlineKeyboard checks the rows of an inline keyboard, and sets them on the
// markup for clients.
func inlineKeyboard(shown raw.Object, rows []any, server int) *failure {
	total, out := 0, []any{}
	for _, r := range rows {
		row, ok := r.([]any)
		if !ok {
			return badRequest("field \"inline_keyboard\" of the InlineKeyboardMarkup must be an Array of Arrays")
		}
		if len(row) > maxRow {
			return badRequest("reply markup is too long")
		}
		total += len(row)
		var buttons []any
		for _, b := range raw.All(row) {
			next, bad := inlineButton(b, server)
			if bad != nil {
				return bad
			}
			buttons = append(buttons, next)
		}
		if len(buttons) > 0 {
			out = append(out, buttons)
		}
	}
	shown["inline_keyboard"] = out
	encoded, err := json.Marshal(shown)
	if err != nil || total > maxButtons || len(encoded) > maxKeyboard {
		return badRequest("reply markup is too long")
	}
	return nil
}

// unparsed returns the error for a button that the server cannot read.
func unparsed(format string, args ...any) *failure {
	return badRequest("can't parse inline keyboard button: %s", fmt.Sprintf(format, args...))
}

// buttonKinds lists the fields that determine the kind of a button, in the
// order in which the server looks for them, each with the version that
// introduced it. The server ignores all but the first. Games, payments, logins,
// Mini Apps and inline mode are not emulated.
var buttonKinds = []struct {
	field string
	since int
}{{"url", 0}, {"callback_data", 0}, {"copy_text", copyButtons}, {"disabled", disabledButtons}}

// inlineButton checks a button and returns it in the format for clients.
func inlineButton(b raw.Object, server int) (raw.Object, *failure) {
	switch {
	case b == nil:
		return nil, unparsed("InlineKeyboardButton must be an Object")
	case raw.Str(b, "text") == "":
		return nil, badRequest("inline keyboard button text is empty")
	}
	out := raw.Object{"text": b["text"]}
	if bad := decorate(out, b, server); bad != nil {
		return nil, bad
	}
	for _, kind := range buttonKinds {
		if v := b[kind.field]; v != nil && v != "" && kind.since <= server {
			out[kind.field] = v
			return out, checkKind(kind.field, b)
		}
	}
	return nil, unparsed("Text buttons are unallowed in the inline keyboard")
}

// decorate sets the style of a button. Older servers ignore it.
func decorate(out, b raw.Object, server int) *failure {
	if server < styledButtons {
		return nil
	}
	switch style := strings.ToLower(raw.Str(b, "style")); style {
	case "", "default":
	case "primary", "success", "danger":
		out["style"] = style
	default:
		return unparsed("invalid button style specified")
	}
	return nil
}

// checkKind checks the field that determines the kind of a button.
func checkKind(kind string, b raw.Object) *failure {
	switch kind {
	case "url":
		if !webAddress(raw.Str(b, kind)) {
			return badRequest("inline keyboard button URL '%s' is invalid: Wrong HTTP URL", raw.Text(b[kind]))
		}
	case "callback_data":
		if data := raw.Str(b, kind); len(data) < 1 || len(data) > maxData {
			return badRequest("BUTTON_DATA_INVALID")
		}
	case "copy_text":
		if n := raw.Runes(raw.Str(raw.Sub(b, kind), "text")); n < 1 || n > maxCopied {
			return badRequest("BUTTON_COPY_TEXT_INVALID")
		}
	case "disabled":
		if raw.Sub(b, kind) == nil {
			return unparsed("Field \"disabled\" must be of type Object")
		}
	}
	return nil
}

// webAddress reports whether a button or a text may link to an address.
func webAddress(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return strings.Contains(strings.Trim(u.Hostname(), "."), ".") || u.Hostname() == "localhost"
	case "tg", "ton", "tonsite":
		return true
	}
	return false
}
