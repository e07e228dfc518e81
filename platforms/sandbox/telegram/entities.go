package telegram

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func lengthUTF16(s string) int { return len(utf16.Encode([]rune(s))) }

// cutUTF16 returns a part of a text. Offset and length are in UTF-16 units.
func cutUTF16(s string, offset, length int) string {
	units := utf16.Encode([]rune(s))
	return string(utf16.Decode(units[offset : offset+length]))
}

// styles lists the entities without additional fields.
var styles = []string{"bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "blockquote"}

// found lists the entities that the server itself detects. The server ignores
// them in a call of a bot.
var found = []string{
	"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number",
}

// checkEntities checks entities, and that they lie within the text in UTF-16
// units. It returns the entities that the server keeps.
func (e *Emulator) checkEntities(text string, entities []any, server int) ([]any, *failure) {
	units := utf16.Encode([]rune(text))
	if len(entities) > maxEntities {
		return nil, badRequest("too many entities") // the real server drops entities above the limit
	}
	var kept []any
	for _, o := range raw.All(entities) {
		if o == nil {
			return nil, badEntity("expected an Object")
		}
		kind := raw.Str(o, "type")
		if slices.Contains(found, kind) {
			continue
		}
		if why := described(kind, o, server); why != "" {
			return nil, badEntity(why)
		}
		offset, size := raw.Int(o["offset"]), raw.Int(o["length"])
		switch {
		case offset < 0 || size < 1 || offset+size > len(units):
			return nil, badRequest(
				"entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", offset, offset+size)
		case splits(units, offset) || splits(units, offset+size):
			return nil, badRequest("entity begins in a middle of a UTF-16 symbol at byte offset %d", offset)
		}
		if next := e.shown(kind, o); next != nil {
			kept = append(kept, next)
		}
	}
	return outsideCode(kept), nil
}

// outsideCode removes the range of code from other entities: code and pre
// contain no entities and, except for quotes, are not part of others.
func outsideCode(entities []any) []any {
	isCode := func(e raw.Object) bool { return raw.Str(e, "type") == "code" || raw.Str(e, "type") == "pre" }
	out := slices.Clone(entities)
	for _, code := range raw.All(entities) {
		if !isCode(code) {
			continue
		}
		from, to := raw.Int(code["offset"]), raw.Int(code["offset"])+raw.Int(code["length"])
		var next []any
		for _, e := range raw.All(out) {
			start, end := raw.Int(e["offset"]), raw.Int(e["offset"])+raw.Int(e["length"])
			if isCode(e) || strings.HasSuffix(raw.Str(e, "type"), "blockquote") || end <= from || start >= to {
				next = append(next, e)
				continue
			}
			for _, part := range [][2]int{{start, from}, {to, end}} {
				if part[0] < part[1] {
					rest := raw.Copy(e)
					rest["offset"], rest["length"] = float64(part[0]), float64(part[1]-part[0])
					next = append(next, rest)
				}
			}
		}
		out = next
	}
	return out
}

func badEntity(why string) *failure { return badRequest("can't parse MessageEntity: %s", why) }

// splits reports whether an offset is inside a character.
func splits(units []uint16, at int) bool {
	return at > 0 && at < len(units) && utf16.IsSurrogate(rune(units[at])) && units[at] >= 0xdc00
}

// described returns the problem with the fields of an entity, or "".
func described(kind string, e raw.Object, server int) string {
	switch {
	case slices.Contains(styles, kind):
	case kind == "expandable_blockquote" && server >= expandableQuotes:
	case kind == "text_mention":
		if raw.Int(raw.Sub(e, "user")["id"]) == 0 {
			return "Can't find field \"user\""
		}
	case kind == "text_link":
		if raw.Str(e, "url") == "" {
			return "Can't find field \"url\""
		}
	case kind == "date_time" && server >= dates:
		return dated(e)
	default:
		return "Unsupported type specified"
	}
	return ""
}

// dated returns the problem with a date, or "".
func dated(e raw.Object) string {
	at, given := raw.Number(e, "unix_time")
	switch {
	case !given:
		return "Can't find field \"unix_time\""
	case at < math.MinInt32 || at > math.MaxInt32:
		return "Field \"unix_time\" must be a valid Number"
	}
	if format := raw.Str(e, "date_time_format"); format != "r" && format != "R" && strings.Trim(format, "tTdDwW") != "" {
		return "Invalid date-time format specified"
	}
	return ""
}

// shown returns an entity in the format for clients. It returns nil if the
// server drops the entity: a mention of an unknown user, or a link without a
// web address.
func (e *Emulator) shown(kind string, o raw.Object) raw.Object {
	switch kind {
	case "text_mention":
		m, known := e.ByID(strconv.Itoa(raw.Int(raw.Sub(o, "user")["id"])))
		if !known {
			return nil
		}
		o["user"] = raw.Copy(userJSON(m))
	case "text_link":
		if !webAddress(raw.Str(o, "url")) {
			return nil
		}
	}
	return o
}
