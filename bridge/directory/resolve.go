package directory

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// those returns the people who match, by name.
func (d *Directory) those(matches func(name string, p Person) bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d.o.People)) {
		if matches(name, d.o.People[name]) {
			out = append(out, name)
		}
	}
	return out
}

func (d *Directory) withEmail(email string) []string {
	return d.those(func(_ string, p Person) bool { return email != "" && strings.EqualFold(p.Email, email) })
}

// withName returns the people with a name: the one with exactly this name in the
// config, or else those whose name or display name is the same in any case.
func (d *Directory) withName(name string) []string {
	name = strings.TrimSpace(name)
	if _, ok := d.o.People[name]; ok {
		return []string{name}
	}
	return d.those(func(own string, p Person) bool {
		return name != "" && (strings.EqualFold(own, name) || strings.EqualFold(p.Name, name))
	})
}

// one returns the only person of a list. It is empty for none, and for several,
// because a contradiction names no one.
func one(people []string) string {
	if len(people) != 1 {
		return ""
	}
	return people[0]
}

// Resolve returns the person whom a source outside of nod names: the one with the
// ID, or else the one with the email address. A name counts only if the source has
// neither. It returns "" for a stranger, such as one whose ID and email address
// belong to different people.
func (d *Directory) Resolve(n bridge.Named) string {
	byID := d.those(func(_ string, p Person) bool { return n.ID != "" && p.IDs[n.Kind] == n.ID })
	byEmail := d.withEmail(n.Email)
	switch {
	case len(byID) > 0 && len(bridge.Missing(byID, byEmail)) > 0:
		return ""
	case len(byID) > 0:
		return one(byID)
	case len(byEmail) > 0:
		who := one(byEmail)
		if own := d.o.People[who].IDs[n.Kind]; n.ID != "" && own != "" {
			return "" // that person has another ID there
		}
		return who
	case n.ID != "" || n.Email != "":
		return ""
	}
	return one(d.withName(n.Name))
}

// Find implements bridge.Directory.
func (d *Directory) Find(ctx context.Context, text string) (string, error) {
	text = strings.TrimSpace(text)
	mention, mentioned := strings.CutPrefix(text, "<@") // as some platforms write mentions
	mention, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSuffix(mention, ">"), "!"), "|")
	platform, user, named := strings.Cut(mention, ":")
	if !named || d.platforms[platform] == nil && len(d.those(func(_ string, p Person) bool { return p.Accounts[platform] != "" })) == 0 {
		platform, user = "", strings.TrimPrefix(mention, "@")
	}
	found := d.those(func(_ string, p Person) bool {
		for at, id := range p.Accounts {
			if (platform == "" || platform == at) && d.same(at, id, user) {
				return true
			}
		}
		return platform == "" && user != "" && slices.Contains(slices.Collect(maps.Values(p.IDs)), user)
	})
	if platform == "" && !mentioned {
		found = append(found, bridge.Missing(found, d.withEmail(text))...)
		found = append(found, bridge.Missing(found, d.withName(strings.TrimPrefix(text, "@")))...)
	}
	if len(found) > 0 || !looksLikeID(user) {
		return one(found), nil
	}
	for _, at := range slices.Sorted(maps.Keys(d.platforms)) { // a linked account, or one known by its email address
		if platform != "" && platform != at {
			continue
		}
		who, err := d.Identify(ctx, bridge.Actor{Platform: at, User: user})
		if err != nil {
			return "", err
		}
		if who != "" {
			found = append(found, bridge.Missing(found, []string{who})...)
		}
	}
	return one(found), nil
}

// looksLikeID reports whether a text may be the ID of an account.
func looksLikeID(s string) bool {
	return len(s) >= 5 && strings.ContainsAny(s, "0123456789") && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// Everyone implements bridge.Directory.
func (d *Directory) Everyone(group string) (people []string, all bool) {
	g := d.o.Groups[group]
	return g.People, len(g.Of) == 0 && g.OnCall == ""
}

// Display implements bridge.Directory.
func (d *Directory) Display(person string) string { return d.o.People[person].Name }
