package telegram

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// compose checks text and entities and sets them on a message. TextKey is
// "text" or "caption".
func (e *Emulator) compose(m raw.Object, a arguments, textKey string, limit int) *failure {
	text, entities, bad := e.formatted(a, textKey)
	if bad != nil {
		return bad
	}
	if blank(text) && textKey == "text" {
		return badRequest("message text is empty")
	}
	if raw.Runes(text) > limit {
		if textKey == "caption" {
			return badRequest("message caption is too long")
		}
		return badRequest("message is too long")
	}
	if a.truncate {
		text, _ = core.Truncated(text).(string)
		entities = nil
	}
	options, bad := a.object("link_preview_options", "link preview options")
	if bad != nil {
		return bad
	}
	preview := textKey == "text" && options["is_disabled"] != true && a.text("disable_web_page_preview") != "true"
	m[textKey] = text
	note(m, textKey, entities, preview)
	return nil
}

// formatted returns a text without leading and trailing spaces, and the
// entities from the bot.
func (e *Emulator) formatted(a arguments, textKey string) (string, []any, *failure) {
	text := a.text(textKey)
	if len(text) > maxRaw {
		return "", nil, badRequest("text is too long")
	}
	var entities []any
	if err := a.structure(entitiesKey(textKey), &entities); err != nil {
		return "", nil, badRequest("can't parse entities")
	}
	var bad *failure
	switch mode := strings.ToLower(a.text("parse_mode")); mode {
	case "", "none":
	case "html":
		text, entities, bad = parseHTML(text)
	case "markdown", "markdownv2":
		bad = badRequest("this parse_mode is not emulated by the sandbox")
	default:
		bad = badRequest("unsupported parse_mode")
	}
	if bad != nil {
		return "", nil, bad
	}
	if entities, bad = e.checkEntities(text, entities, a.server); bad != nil {
		return "", nil, bad
	}
	text, entities = clean(text, entities)
	trimmed := strings.TrimLeft(text, " \n")
	before := lengthUTF16(text) - lengthUTF16(trimmed)
	trimmed = strings.TrimRight(trimmed, " \n")
	return trimmed, moved(entities, before, lengthUTF16(trimmed)), nil
}

// entitiesKey returns the name of the field with the entities of a text.
func entitiesKey(textKey string) string {
	if textKey == "caption" {
		return "caption_entities"
	}
	return "entities"
}

// moved returns the entities of a text after its beginning and its end were
// cut.
func moved(entities []any, before, length int) []any {
	var out []any
	for _, e := range raw.All(entities) {
		from := max(0, raw.Int(e["offset"])-before)
		to := min(length, raw.Int(e["offset"])-before+raw.Int(e["length"]))
		if to > from {
			e["offset"], e["length"] = float64(from), float64(to-from)
			out = append(out, e)
		}
	}
	return out
}

// replyTo sets reply_to_message on a message.
func replyTo(m raw.Object, c *chat, a arguments) *failure {
	params, bad := a.object("reply_parameters", "reply parameters")
	if bad != nil {
		return bad
	}
	id := a.text("reply_to_message_id")
	if _, ok := raw.Number(params, "message_id"); ok {
		id = raw.Text(params["message_id"])
	}
	if number(id) == 0 {
		return nil
	}
	original := raw.Copy(c.Message(id))
	if original == nil {
		if params["allow_sending_without_reply"] == true || a.text("allow_sending_without_reply") == "true" {
			return nil
		}
		return badRequest("message to be replied not found")
	}
	delete(original, "reply_to_message")
	m["reply_to_message"] = original
	return nil
}

// dropped holds the characters that the server removes from texts: line and
// paragraph separators, directional formats, and three combining marks.
const dropped = "\r\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u0333\u033f\u030a"

// directions matches consecutive direction marks.
var directions = lazyregexp.New(`[\x{200e}\x{200f}]{2,}`)

// clean changes a text like the server: control characters, including tabs,
// become spaces, some characters disappear, and only the last of consecutive
// direction marks stays. It moves the entities accordingly. Source:
// clean_input_string_with_entities and replace_offending_characters in
// github.com/tdlib/td, td/telegram.
func clean(text string, entities []any) (string, []any) {
	var b strings.Builder
	var before []int // number of removed characters before each UTF-16 unit
	gone := 0
	for _, r := range text {
		for range lengthUTF16(string(r)) {
			before = append(before, gone)
		}
		switch {
		case strings.ContainsRune(dropped, r):
			gone++
		case r < ' ' && r != '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	before = append(before, gone)
	for _, e := range raw.All(entities) {
		from := raw.Int(e["offset"])
		to := from + raw.Int(e["length"])
		from, to = from-before[from], to-before[to]
		e["offset"], e["length"] = float64(from), float64(to-from)
	}
	return directions.ReplaceAllStringFunc(b.String(), func(run string) string {
		marks := []rune(run)
		return strings.Repeat("\u200c", len(marks)-1) + string(marks[len(marks)-1])
	}), entities
}

// unseen holds the characters that do not make a visible text:
// strip_empty_characters in td/telegram/misc.cpp.
const unseen = " \n\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e" +
	"\u200f\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc"

// blank reports whether a text is invisible.
func blank(text string) bool { return strings.Trim(text, unseen) == "" }

var commandName = lazyregexp.New(`^[a-z0-9_]+$`)

// setCommands checks commands. Clients show them in a menu. The sandbox has no
// such menu.
func (e *Emulator) setCommands(a arguments) (any, *failure) {
	var given []any
	if err := a.structure("commands", &given); err != nil {
		return nil, badRequest("can't parse commands JSON object")
	}
	if len(given) > maxCommands {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range raw.All(given) {
		name, what := strings.TrimPrefix(raw.Str(c, "command"), "/"), strings.TrimSpace(raw.Str(c, "description"))
		switch {
		case c == nil:
			return nil, badRequest("can't parse BotCommand: expected an Object")
		case !commandName.MatchString(name) || len(name) > maxCommand:
			return nil, badRequest("BOT_COMMAND_INVALID")
		case what == "" || raw.Runes(what) > maxDescription:
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	return true, nil
}
