package daemon_test

import (
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// malOnSlack is an account of no one.
const malOnSlack = "U0MAL00004"

func linkScene(x rig.Intruder) scene {
	links := engine.NewLinked(x.Daemons[0].Documents())
	link := func(user, person string) string {
		by := bridge.Actor{Platform: bridge.PlatformAPI, User: person}
		must(x, links.PutLink(x.Ctx, bridge.Link{Platform: "slack", User: user, Person: person, By: by, At: time.Now().UTC()}))
		return "slack/" + user
	}
	id := link(malOnSlack, "ana")
	return scene{
		id: id, other: x.Stored("link", link("U0OTHER", "bo")), forge: [2]string{`"person":"ana"`, `"person":"bo"`},
		next: func() {
			removed, err := links.DropLink(x.Ctx, "slack", malOnSlack)
			if must(x, err); !removed {
				x.T.Error("there was no link")
			}
		},
		says: func() string { // of a click with the account
			a := x.Ask(samples.Approval(bridge.ScopeOnce))
			x.Press("mal", a.On("slack"), "Run command")
			rec, err := x.Agent.Get(x.Ctx, a.Interaction.ID)
			all, lerr := x.Person.Links(x.Ctx)
			must(x, lerr)
			for _, l := range all.Items {
				if l.User == malOnSlack && rec.State == bridge.StatePending {
					x.T.Errorf("%+v is listed", l)
				}
			}
			return outcomeOf(err, string(rec.State))
		},
	}
}

func passkeyScene(x rig.Intruder) scene {
	store := passkeys.NewCredentials(x.Daemons[0].Documents())
	add := func(person string) passkey.Credential {
		c := passkey.Credential{ID: []byte(samples.Session()), PublicKey: []byte(person), Person: person, Created: time.Now().UTC().Truncate(time.Millisecond)}
		must(x, store.AddPasskey(x.Ctx, c))
		return c
	}
	mine, other := add("ana-"+samples.Session()), add("mal-"+samples.Session())
	return scene{
		id: mine.Name(), other: x.Stored("passkey", other.Name()), forge: [2]string{`"person":"ana`, `"person":"bo`},
		next: func() {
			must(x, store.RevokePasskey(x.Ctx, mine, true))
		},
		says: func() string {
			err := store.UsePasskey(x.Ctx, mine)
			listed, lerr := store.Passkeys(x.Ctx, mine.Person)
			must(x, lerr)
			if (err == nil) != (len(listed) == 1 && listed[0].Valid()) {
				x.T.Errorf("it is used: %v, and listed: %+v", err, listed)
			}
			return outcomeOf(err, "used")
		},
	}
}
