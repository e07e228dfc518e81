package directory

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Accounts implements bridge.Directory. Linked accounts count on platforms where the
// config has none of the person.
func (d *Directory) Accounts(_ context.Context, person string) ([]bridge.Responder, error) {
	var out []bridge.Responder
	for platform, user := range d.o.People[person].Accounts {
		out = append(out, bridge.Responder{Person: person, Platform: platform, User: user})
	}
	links, err := d.links(person)
	for _, l := range links {
		if d.o.People[person].Accounts[l.Platform] == "" {
			out = append(out, bridge.Responder{Person: person, Platform: l.Platform, User: l.User})
		}
	}
	return sorted(out), err
}

// links returns the linked accounts of a person. With an error, some of them may be
// missing.
func (d *Directory) links(person string) ([]bridge.Link, error) {
	if d.o.Links == nil || person == "" {
		return nil, nil
	}
	got, err := d.remember("links", func(ctx context.Context) (kept, error) {
		all, err := d.o.Links.Links(ctx)
		out := kept{links: all.Items}
		if all.Unreadable > 0 { // any of them may belong to the person
			out.err = bridge.Errorf(bridge.CodeUnavailable, "%d linked accounts cannot be read", all.Unreadable)
		}
		return out, err
	})
	return slices.DeleteFunc(slices.Clone(got.links), func(l bridge.Link) bool { return l.Person != person }), err
}

// users returns the accounts that an actor has on a platform, whichever of them the
// actor uses now.
func (d *Directory) users(who bridge.Actor, platform string) ([]string, error) {
	var out []string
	if who.Platform == platform {
		out = append(out, who.User)
	}
	links, err := d.links(who.Person)
	for _, l := range links {
		if l.Platform == platform {
			out = append(out, l.User)
		}
	}
	out = append(out, d.o.People[who.Person].Accounts[platform])
	return slices.DeleteFunc(out, func(user string) bool { return user == "" }), err
}

func sorted(out []bridge.Responder) []bridge.Responder {
	slices.SortFunc(out, func(a, b bridge.Responder) int { return strings.Compare(a.Platform, b.Platform) })
	return out
}
