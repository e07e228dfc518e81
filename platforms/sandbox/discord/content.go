package discord

import (
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Flags of messages.
const (
	suppressEmbeds = 1 << 2
	ephemeral      = 1 << 6
	loading        = 1 << 7
	quiet          = 1 << 12
	componentsV2   = 1 << 15 // IS_COMPONENTS_V2
)

func flags(m raw.Object) int { n, _ := raw.Number(m, "flags"); return int(n) }

// sent holds the fields and files of a request that writes a message.
type sent struct {
	args  raw.Object
	files []file
	// replaces means that the files of an edit replace the files of the
	// message, even if the request does not list the ones to keep. API v10 does
	// this.
	replaces bool
}

func (c *call) sent() sent {
	return sent{c.args, c.files, strings.Contains(c.URL.Path, "/api/v10/")}
}

// apply checks the fields and files of a request and sets them on a message.
func (g *guild) apply(ch *channel, m raw.Object, in sent, edit bool) *failure {
	next := raw.Copy(m)
	if bad := requestShape.check("", in.args, false); bad != nil {
		return bad
	}
	if bad := takeFields(next, in.args, edit); bad != nil {
		return bad
	}
	if !g.may(ch, "EMBED_LINKS") {
		next["embeds"] = []any{}
	}
	if len(in.files) > 0 && !g.may(ch, "ATTACH_FILES") {
		return notAllowed
	}
	held, bad := g.attach(raw.Str(m, "id"), in, edit)
	if bad != nil {
		return bad
	}
	if bad := checkMessage(next, len(held) > 0); bad != nil {
		return bad
	}
	if bad := showAttachments(next, held); bad != nil {
		return bad
	}
	g.mention(next, in.args)
	if !edit {
		announce(next)
	} else {
		next["edited_timestamp"] = time.Now().UTC().Format(time.RFC3339Nano)
		next["edits"] = 1 + raw.Int(next["edits"])
	}
	for k, v := range next {
		m[k] = v
	}
	g.attached[raw.Str(m, "id")] = held
	numberComponents(raw.List(m, "components"))
	g.Touch()
	return nil
}

// takeFields sets the fields and flags of a request on a message.
func takeFields(next, args raw.Object, edit bool) *failure {
	for _, key := range []string{"content", "embeds", "components", "sticker_ids", "poll"} {
		if v, ok := args[key]; ok {
			next[key] = raw.Clone(v)
		}
	}
	if v, ok := args["embeds"]; ok && v == nil && edit && flags(args)&componentsV2 != 0 {
		// Only an empty list clears them: discord/discord-api-docs#7787.
		return legacyField("embeds")
	}
	for _, key := range []string{"embeds", "components"} {
		if next[key] == nil {
			next[key] = []any{}
		}
	}
	if next["content"] == nil {
		next["content"] = ""
	}
	return applyFlags(next, args, edit)
}

// applyFlags sets the flags that a bot may set. An edit cannot make a message
// ephemeral, and cannot turn components into content.
func applyFlags(next, args raw.Object, edit bool) *failure {
	was := flags(next) &^ loading
	next["flags"] = float64(was)
	given, ok := raw.Number(args, "flags")
	if !ok {
		return nil
	}
	settable := suppressEmbeds | componentsV2
	if !edit {
		settable |= ephemeral | quiet
	}
	if edit && was&componentsV2 != 0 && int(given)&componentsV2 == 0 {
		return invalid("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG",
			"The 'IS_COMPONENTS_V2' flag cannot be removed once set")
	}
	next["flags"] = float64(was&^settable | int(given)&settable)
	return nil
}
