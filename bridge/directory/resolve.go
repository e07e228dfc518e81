package directory

import (
	"context"
	"maps"
	"net/mail"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/nodbridge/nod/bridge"
)

// Kinds of names in the index of people, apart from the kinds of schedules.
const (
	byEmail = "@"
	byName  = ""
)

// call returns the key of a name in the index of people: in any case, in either form
// of its accents, and without blanks around it.
func call(kind, name string) string {
	return kind + "\n" + strings.ToLower(norm.NFC.String(strings.TrimSpace(name)))
}

// index builds the index of people. A schedule may list thousands of people at
// each click, so a lookup must not search through all people.
func (d *Directory) index() {
	d.names, d.spelled = slices.Sorted(maps.Keys(d.o.People)), map[string][]string{}
	add := func(key, person string) {
		if all := d.spelled[key]; !slices.Contains(all, person) {
			d.spelled[key] = append(all, person)
		}
	}
	for _, name := range d.names {
		p := d.o.People[name]
		add(call(byName, name), name)
		for kind, id := range p.IDs {
			add(kind+"\n"+id, name) // an ID has only one spelling
		}
		if strings.TrimSpace(p.Email) != "" {
			add(call(byEmail, p.Email), name)
		}
		if strings.TrimSpace(p.Name) != "" {
			add(call(byName, p.Name), name)
		}
	}
}

// those returns the people who match, by name.
func (d *Directory) those(matches func(name string, p Person) bool) []string {
	var out []string
	for _, name := range d.names {
		if matches(name, d.o.People[name]) {
			out = append(out, name)
		}
	}
	return out
}

// withID returns the people who have an ID at a kind of schedule.
func (d *Directory) withID(kind, id string) []string {
	if id == "" {
		return nil
	}
	return d.spelled[kind+"\n"+id]
}

func (d *Directory) withEmail(email string) []string { return d.spelled[call(byEmail, email)] }

// withName returns the people with a name: the person with exactly this name in
// the config, or otherwise all people whose name or display name is the same,
// ignoring case.
func (d *Directory) withName(name string) []string {
	name = strings.TrimSpace(name)
	if _, ok := d.o.People[name]; ok {
		return []string{name}
	}
	return d.spelled[call(byName, name)]
}

// one returns the only person in a list. It returns "" for any other number of
// people, because the source is then ambiguous.
func one(people []string) string {
	if len(people) != 1 {
		return ""
	}
	return people[0]
}

// Resolve returns the person that an external source refers to: the person with
// the ID, or otherwise the person with the email address. A name counts only if
// the source has neither. It returns "" for a stranger, for example if the ID
// and the email address belong to different people.
func (d *Directory) Resolve(n bridge.Named) string {
	withID, withEmail := d.withID(n.Kind, n.ID), d.withEmail(n.Email)
	switch {
	case len(withID) > 0 && len(bridge.Missing(withID, withEmail)) > 0:
		return ""
	case len(withID) > 0:
		return one(withID)
	case len(withEmail) > 0:
		who := one(withEmail)
		if own := d.o.People[who].IDs[n.Kind]; n.ID != "" && own != "" {
			return "" // that person has a different ID in the schedule
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
	if a, err := mail.ParseAddress(strings.TrimPrefix(text, "mailto:")); err == nil { // such as Bo Chen <bo@example.com>
		if all := d.withName(a.Name); len(all) > 0 && len(bridge.Missing(d.withEmail(a.Address), all)) > 0 {
			return "", nil // the name and the address belong to different people
		}
		text = a.Address
	}
	mention, mentioned := strings.CutPrefix(text, "<@") // the format in which some platforms write mentions
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
		found = slices.Concat(found, bridge.Missing(found, d.withEmail(text)))
		found = append(found, bridge.Missing(found, d.withName(strings.TrimPrefix(text, "@")))...)
	}
	if len(found) > 0 || !looksLikeID(user) {
		return one(found), nil
	}
	for _, at := range slices.Sorted(maps.Keys(d.platforms)) { // the account is linked, or known by its email address
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
