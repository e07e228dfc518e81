package discord

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// attach returns the attachments of a message after a request: the attachments
// that the request keeps, and its files.
func (e *Emulator) attach(message string, in sent, edit bool) ([]raw.Object, *failure) {
	var held []raw.Object
	wanted, listed := in.args["attachments"].([]any)
	had := e.attached[message]
	if !listed {
		if !(edit && in.replaces && len(in.files) > 0) {
			held = slices.Clone(had)
		}
		for _, f := range in.files {
			held = append(held, e.upload(f, f.name))
		}
		return held, nil
	}
	for n, o := range raw.All(wanted) {
		id := raw.Text(o["id"])
		if at := slices.IndexFunc(had, func(h raw.Object) bool { return raw.Str(h, "id") == id }); at >= 0 {
			held = append(held, had[at])
			continue
		}
		at := slices.IndexFunc(in.files, func(f file) bool { return f.number == id })
		if at < 0 {
			return nil, invalid("attachments."+strconv.Itoa(n)+".id", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
		}
		name := raw.Str(o, "filename")
		if name == "" {
			name = in.files[at].name
		}
		held = append(held, e.upload(in.files[at], name))
	}
	return held, nil
}

func (e *Emulator) upload(f file, name string) raw.Object {
	id := e.snowflake()
	e.files.Put(id, f.data)
	at := "/discord/files/" + id + "/" + name
	return raw.Object{
		"id": id, "filename": name, "size": float64(len(f.data)), "url": at, "proxy_url": at,
		"content_type": "text/plain; charset=utf-8",
	}
}

// showAttachments resolves references of components to attachments. A message
// does not list an attachment that a component shows:
// discord/discord-api-docs#8277.
func showAttachments(m raw.Object, held []raw.Object) *failure {
	shown := map[string]bool{}
	for _, c := range components(raw.List(m, "components")) {
		if kindOf(c) == fileShown {
			id, bad := resolve(c, held)
			if bad != nil {
				return bad
			}
			shown[id] = true
		}
	}
	rest := []any{}
	for _, h := range held {
		if !shown[raw.Str(h, "id")] {
			rest = append(rest, raw.Copy(h))
		}
	}
	m["attachments"] = rest
	return nil
}

// resolve sets the address of a file that refers to an attachment. It returns
// the ID of the attachment.
func resolve(c raw.Object, held []raw.Object) (string, *failure) {
	item := raw.Sub(c, "file")
	name, given := strings.CutPrefix(raw.Str(item, "url"), "attachment://")
	id := raw.Str(item, "attachment_id")
	at := slices.IndexFunc(held, func(h raw.Object) bool {
		return given && raw.Str(h, "filename") == name || !given && raw.Str(h, "id") == id
	})
	if at < 0 {
		return "", invalid("components", "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND",
			"The referenced attachment could not be found")
	}
	h := held[at]
	item["url"], item["attachment_id"], item["content_type"] = h["url"], h["id"], h["content_type"]
	c["name"], c["size"] = h["filename"], h["size"]
	return raw.Str(h, "id"), nil
}

// shownFiles returns the IDs of the attachments that a message shows.
func shownFiles(m raw.Object) []string {
	var out []string
	if flags(m)&componentsV2 == 0 { // without the flag, only components show attachments
		for _, o := range raw.Objects(m, "attachments") {
			out = append(out, raw.Str(o, "id"))
		}
	}
	for _, c := range components(raw.List(m, "components")) {
		if kindOf(c) == fileShown {
			out = append(out, raw.Str(raw.Sub(c, "file"), "attachment_id"))
		}
	}
	return out
}
