package sandbox

import (
	"slices"
	"strings"
	"time"
)

// Flags of messages.
const (
	discordSuppressEmbeds = 1 << 2
	discordEphemeral      = 1 << 6
	discordQuiet          = 1 << 12
	discordV2             = 1 << 15 // IS_COMPONENTS_V2
)

func discordFlags(m object) int { n, _ := number(m, "flags"); return int(n) }

// discordSent holds the fields and files of a request that writes a message.
type discordSent struct {
	args  object
	files []discordFile
	// replaces means that the files of an edit replace those of the message even
	// if the request does not list the ones that stay, as in API v10.
	replaces bool
}

func (c *discordCall) sent() discordSent {
	return discordSent{c.args, c.files, strings.Contains(c.URL.Path, "/api/v10/")}
}

// apply checks and takes over what a create or edit sends.
func (w *discordWorld) apply(ch *discordChannel, m object, in discordSent, edit bool) *discordFailure {
	next := cloneObject(m)
	for _, key := range []string{"content", "embeds", "components", "sticker_ids", "poll"} {
		if v, ok := in.args[key]; ok {
			next[key] = clone(v)
		}
	}
	if v, ok := in.args["embeds"]; ok && v == nil && edit && discordFlags(in.args)&discordV2 != 0 {
		// Only an empty list clears them: discord/discord-api-docs#7787.
		return discordLegacyField("embeds")
	}
	for _, key := range []string{"embeds", "components"} {
		if next[key] == nil {
			next[key] = []any{}
		}
	}
	if next["content"] == nil {
		next["content"] = ""
	}
	if bad := applyFlags(next, in.args, edit); bad != nil {
		return bad
	}
	if !w.may(ch, "EMBED_LINKS") {
		next["embeds"] = []any{}
	}
	if len(in.files) > 0 && !w.may(ch, "ATTACH_FILES") {
		return discordNotAllowed
	}
	held, bad := w.attach(str(m, "id"), in, edit)
	if bad != nil {
		return bad
	}
	if bad := checkDiscordMessage(next, len(held) > 0); bad != nil {
		return bad
	}
	if bad := showAttachments(next, held); bad != nil {
		return bad
	}
	next["mentions"], next["mention_everyone"] = []any{}, false
	w.mention(next, in.args)
	if edit {
		next["edited_timestamp"] = time.Now().UTC().Format(time.RFC3339Nano)
		next["edits"] = 1 + intOf(next["edits"])
	}
	for k, v := range next {
		m[k] = v
	}
	w.attached[str(m, "id")] = held
	numberComponents(list(m, "components"))
	w.s.touch()
	return nil
}

// applyFlags takes over the flags that a bot may set. Whether a message is
// ephemeral is decided when it is created, and components stay components.
func applyFlags(next, args object, edit bool) *discordFailure {
	given, ok := number(args, "flags")
	if !ok {
		return nil
	}
	was := discordFlags(next)
	settable := discordSuppressEmbeds | discordV2
	if !edit {
		settable |= discordEphemeral | discordQuiet
	}
	if edit && was&discordV2 != 0 && int(given)&discordV2 == 0 {
		return discordInvalid("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", "The 'IS_COMPONENTS_V2' flag cannot be removed once set")
	}
	next["flags"] = float64(was&^settable | int(given)&settable)
	return nil
}

// attach returns the attachments that a message has after a request: those
// that its list keeps, and the files that came with it.
func (w *discordWorld) attach(message string, in discordSent, edit bool) ([]object, *discordFailure) {
	var held []object
	wanted, listed := in.args["attachments"].([]any)
	had := w.attached[message]
	if !listed {
		if !(edit && in.replaces && len(in.files) > 0) {
			held = slices.Clone(had)
		}
		for _, f := range in.files {
			held = append(held, w.upload(f, f.name))
		}
		return held, nil
	}
	for n, v := range wanted {
		o, _ := v.(object)
		id := text(o["id"])
		if at := slices.IndexFunc(had, func(h object) bool { return str(h, "id") == id }); at >= 0 {
			held = append(held, had[at])
			continue
		}
		at := slices.IndexFunc(in.files, func(f discordFile) bool { return f.number == id })
		if at < 0 {
			return nil, discordInvalid("attachments."+text(float64(n))+".id", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
		}
		name := str(o, "filename")
		if name == "" {
			name = in.files[at].name
		}
		held = append(held, w.upload(in.files[at], name))
	}
	return held, nil
}

func (w *discordWorld) upload(f discordFile, name string) object {
	id := w.snowflake()
	w.files[id] = f.data
	return object{"id": id, "filename": name, "size": float64(len(f.data)), "url": "/discord/files/" + id + "/" + name, "content_type": "text/plain; charset=utf-8"}
}

// showAttachments resolves what the components refer to. An attachment that a
// component shows is not listed with the message:
// discord/discord-api-docs#8277.
func showAttachments(m object, held []object) *discordFailure {
	shown := map[string]bool{}
	for _, c := range discordComponents(list(m, "components")) {
		for _, media := range discordMedia(c) {
			name, given := strings.CutPrefix(str(media, "url"), "attachment://")
			id := str(media, "attachment_id")
			if !given && id == "" {
				continue // an address elsewhere
			}
			at := slices.IndexFunc(held, func(h object) bool { return given && str(h, "filename") == name || !given && str(h, "id") == id })
			if at < 0 {
				return discordInvalid("components", "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", "The referenced attachment could not be found")
			}
			media["url"], media["attachment_id"], media["content_type"] = held[at]["url"], held[at]["id"], held[at]["content_type"]
			if kindOf(c) == 13 {
				c["name"], c["size"] = held[at]["filename"], held[at]["size"]
			}
			shown[str(held[at], "id")] = true
		}
	}
	rest := []any{}
	for _, h := range held {
		if !shown[str(h, "id")] {
			rest = append(rest, cloneObject(h))
		}
	}
	m["attachments"] = rest
	return nil
}

// discordMedia are the media items of a component.
func discordMedia(c object) []object {
	switch kindOf(c) {
	case 11:
		return []object{sub(c, "media")}
	case 12:
		var out []object
		for _, v := range list(c, "items") {
			o, _ := v.(object)
			out = append(out, sub(o, "media"))
		}
		return out
	case 13:
		return []object{sub(c, "file")}
	}
	return nil
}

// discordComponents are components with all that are nested in them, in the
// order in which they are read.
func discordComponents(components []any) []object {
	var out []object
	for _, v := range components {
		o, _ := v.(object)
		if o == nil {
			continue
		}
		out = append(out, o)
		out = append(out, discordComponents(list(o, "components"))...)
		for _, key := range []string{"accessory", "component"} {
			if child := sub(o, key); child != nil {
				out = append(out, discordComponents([]any{child})...)
			}
		}
	}
	return out
}

// numberComponents gives components without an id the next one that is free.
func numberComponents(components []any) {
	all, used := discordComponents(components), map[int]bool{}
	for _, o := range all {
		used[intOf(o["id"])] = true
	}
	next := 0
	for _, o := range all {
		if intOf(o["id"]) != 0 {
			continue
		}
		for next++; used[next]; next++ {
		}
		o["id"] = float64(next)
	}
}

// mention notes whom the message pings: without allowed_mentions everyone
// whom its text names, on edits too.
func (w *discordWorld) mention(m, args object) {
	allowed, given := args["allowed_mentions"].(object)
	parse := func(kind string) bool {
		if !given {
			return true
		}
		for _, v := range list(allowed, "parse") {
			if v == kind {
				return true
			}
		}
		return false
	}
	content := str(m, "content")
	for _, o := range discordComponents(list(m, "components")) {
		if kindOf(o) == 10 {
			content += "\n" + str(o, "content")
		}
	}
	if parse("everyone") && (strings.Contains(content, "@everyone") || strings.Contains(content, "@here")) {
		m["mention_everyone"] = true
	}
	if parse("users") {
		for _, p := range w.s.members {
			if strings.Contains(content, "<@"+p.Discord+">") {
				m["mentions"] = append(list(m, "mentions"), object{"id": p.Discord})
			}
		}
	}
}
