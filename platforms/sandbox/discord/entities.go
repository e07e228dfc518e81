package discord

import (
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// entity is a user, a role or a channel that a select offers.
type entity struct {
	kind, id, name string // kind is the name of its list in resolved
	data           raw.Object
}

// offered returns the entries of a select of users, roles or channels. The
// caller holds the lock.
func (g *guild) offered(kind int) []entity {
	var out []entity
	if kind == userSelect || kind == anySelect {
		for _, m := range g.Members {
			out = append(out, entity{"users", m.ID, m.Name, userJSON(m)})
		}
	}
	if kind == roleSelect || kind == anySelect {
		for _, r := range g.roles() {
			out = append(out, entity{"roles", raw.Str(r, "id"), raw.Str(r, "name"), r})
		}
	}
	if kind == channelSelect {
		for _, ch := range raw.All(g.textChannels()) {
			out = append(out, entity{"channels", raw.Str(ch, "id"), raw.Str(ch, "name"), ch})
		}
	}
	return out
}

// withOptions returns a copy of an input. A select of users, roles or channels
// gets its entries as options, so that people choose by name.
func (g *guild) withOptions(c raw.Object) raw.Object {
	c = raw.Copy(c)
	if !picksEntity(kindOf(c)) {
		return c
	}
	selected := map[string]bool{}
	for _, v := range raw.Objects(c, "default_values") {
		selected[raw.Str(v, "id")] = true
	}
	var options []any
	for _, e := range g.offered(kindOf(c)) {
		options = append(options, raw.Object{"label": e.name, "value": e.id, "default": selected[e.id]})
	}
	c["options"] = options
	return c
}

// resolve adds the objects of chosen IDs to the field resolved of an
// interaction.
func (g *guild) resolve(resolved raw.Object, kind int, values []any) {
	add := func(list, id string, data raw.Object) {
		if raw.Sub(resolved, list) == nil {
			resolved[list] = raw.Object{}
		}
		raw.Sub(resolved, list)[id] = data
	}
	for _, e := range g.offered(kind) {
		for _, v := range values {
			if v != e.id {
				continue
			}
			add(e.kind, e.id, e.data)
			if m, known := g.ByID(e.id); known {
				member := memberJSON(nil, g.GroupsOf(m))
				delete(member, "user")
				member["permissions"] = "0" // permissions in the channel
				add("members", e.id, member)
			}
		}
	}
}

// uploaded stores the files that a member chose in a modal, and returns their
// IDs. The first line of a value is the name of a file, and the rest is its
// content.
func (g *guild) uploaded(resolved raw.Object, values []string) []any {
	ids, attachments := []any{}, raw.Object{}
	for _, v := range values {
		name, content, _ := strings.Cut(v, "\n")
		a := g.upload(file{data: []byte(content)}, name)
		ids, attachments[raw.Str(a, "id")] = append(ids, a["id"]), a
	}
	if len(ids) > 0 {
		resolved["attachments"] = attachments
	}
	return ids
}
