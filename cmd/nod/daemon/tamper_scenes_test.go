package daemon_test

import (
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/bridge/turns"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// inSession returns an approval in a session of its own.
func inSession(scopes ...bridge.Scope) bridge.Request {
	req := samples.Approval(append([]bridge.Scope{bridge.ScopeOnce}, scopes...)...)
	req.Session = samples.Session()
	return req
}

// opensOne opens a request as the agent.
func opensOne(x rig.Intruder, req bridge.Request, key string) bridge.Record {
	x.T.Helper()
	rec, err := x.Agent.Open(x.Ctx, req, key)
	if err != nil {
		x.T.Fatal(err)
	}
	return rec
}

// answers answers a request as ana.
func answers(x rig.Intruder, rec bridge.Record, reply bridge.Reply) {
	x.T.Helper()
	if _, err := x.Person.Respond(x.Ctx, rec.Interaction.ID, reply); err != nil {
		x.T.Fatal(err)
	}
}

// must fails the test for an error.
func must(x rig.Intruder, err error) {
	x.T.Helper()
	if err != nil {
		x.T.Fatal(err)
	}
}

func lifeScene(x rig.Intruder) scene {
	a := x.Ask(samples.Approval(bridge.ScopeOnce))
	id, denied := a.Interaction.ID, false
	other := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce)
	state := func() string {
		rec, err := x.Agent.Get(x.Ctx, id)
		return outcomeOf(err, string(rec.State))
	}
	return scene{
		id: string(id), other: x.Stored("life", string(other.Interaction.ID)),
		forge: [2]string{`"revision":`, `"state":"approved","response":` + forged(a.Interaction, "") + `,"at":"2026-01-01T00:00:00Z","revision":`},
		next: func() {
			answers(x, a.Record, bridge.Reply{Decision: bridge.DecideDeny})
			denied = true
		},
		says: func() string {
			if denied {
				x.Eventually("the decision is recorded again", func() bool { return state() == "denied" })
			}
			return state()
		},
	}
}

func bodyScene(x rig.Intruder) scene {
	a := x.Ask(samples.Approval(bridge.ScopeOnce))
	other := x.Ask(samples.Approval(bridge.ScopeOnce))
	id := a.Interaction.ID
	return scene{
		id: string(id), other: x.Stored("body", string(other.Interaction.ID)),
		forge: [2]string{`"tool":"`, `"tool":"x`},
		next: func() {
			x.Due(life.JobStep, id, 0)
			x.Eventually("cy is asked as well", func() bool {
				rec, err := x.Agent.Get(x.Ctx, id)
				return err == nil && rec.Step == 1
			})
		},
		says: func() string { // with those who were also asked
			rec, err := x.Agent.Get(x.Ctx, id)
			return outcomeOf(err, strings.Join(append([]string{string(rec.State)}, rec.Interaction.Called...), " "))
		},
	}
}

func cardScene(x rig.Intruder) scene {
	a, other := x.Ask(samples.Approval(bridge.ScopeOnce)), x.Ask(samples.Approval(bridge.ScopeOnce))
	id := a.Interaction.ID
	return scene{
		id: string(id) + "/0", other: x.Stored("card", string(other.Interaction.ID)+"/0"),
		forge: [2]string{`"shown":"`, `"shown":"0`},
		next: func() {
			_, err := x.Daemons[0].Store().Mark(x.Ctx, id, life.Late{Delay: time.Hour})
			must(x, err)
		},
		says: func() string {
			rec, err := x.Daemons[0].Engine().Get(x.Ctx, id)
			if rec.Shown[0] == "" || rec.Messages[0] != a.Messages[0] {
				return outcomeOf(err, "not shown")
			}
			return outcomeOf(err, "shown")
		},
	}
}

// askedAs describes the result for a caller that expects an existing request.
func askedAs(first *bridge.Record, again func() (bridge.Record, error)) func() string {
	return func() string {
		rec, err := again()
		if err == nil && rec.Interaction.ID != first.Interaction.ID {
			return "asked again"
		}
		return outcomeOf(err, string(rec.State))
	}
}

func callScene(x rig.Intruder) scene {
	req := inSession()
	key := "key-" + req.Session
	var first, decided bridge.Record
	id := x.Made("call", func() { first = opensOne(x, req, key) })
	other := x.Made("call", func() { decided = opensOne(x, req, key+"-other") })
	answers(x, decided, rig.AnswerOnce)
	return scene{
		id: id, other: x.Stored("call", other),
		forge: [2]string{string(first.Interaction.ID), string(decided.Interaction.ID)},
		next:  func() { opensOne(x, req, key) },
		says:  askedAs(&first, func() (bridge.Record, error) { return x.Agent.Open(x.Ctx, req, key) }),
	}
}

func retryScene(x rig.Intruder) scene {
	req := inSession()
	req.CallID.Caller = "caller-" + req.Session
	var first, decided bridge.Record
	id := x.Made("retry", func() { first = opensOne(x, req, "") })
	again := req
	again.CallID.Caller += "-other"
	other := x.Made("retry", func() { decided = opensOne(x, again, "") })
	answers(x, decided, rig.AnswerOnce)
	return scene{
		id: id, other: x.Stored("retry", other),
		forge: [2]string{string(first.Interaction.ID), string(decided.Interaction.ID)},
		says:  askedAs(&first, func() (bridge.Record, error) { return x.Agent.Open(x.Ctx, req, "") }),
	}
}

func duplicateScene(x rig.Intruder) scene {
	req, another := inSession(), inSession()
	req.Join, another.Join = true, true
	var first, second bridge.Record
	id := x.Made("duplicate", func() { first = opensOne(x, req, "") })
	other := x.Made("duplicate", func() { second = opensOne(x, another, "") })
	return scene{
		id: id, other: x.Stored("duplicate", other),
		forge: [2]string{string(first.Interaction.ID), string(second.Interaction.ID)},
		next: func() {
			answers(x, first, rig.AnswerOnce)
			opensOne(x, req, "")
		},
		says: askedAs(&first, func() (bridge.Record, error) { return x.Agent.Open(x.Ctx, req, "") }),
	}
}

// given returns a grant that ana gives, and the ID of its document.
func given(x rig.Intruder, req bridge.Request) (g bridge.Grant, id string) {
	x.T.Helper()
	id = x.Made("grant", func() { x.Decided(req, bridge.Reply{Decision: bridge.DecideSession}) })
	all, err := grant.NewGrants(x.Daemons[0].Documents()).All(x.Ctx, "tester")
	must(x, err)
	n := slices.IndexFunc(all.Items, func(g bridge.Grant) bool { return g.Session == req.Session })
	if n < 0 {
		x.T.Fatalf("no grant in %+v", all)
	}
	return all.Items[n], id
}

func grantScene(x rig.Intruder) scene {
	req, another := inSession(bridge.ScopeSession), inSession(bridge.ScopeSession)
	another.Approval.Input = []byte(`{"command":"rm -rf /srv"}`)
	g, id := given(x, req)
	_, other := given(x, another)
	return scene{
		id: id, other: x.Stored("grant", other),
		forge: [2]string{`"tool":"`, `"tool":"x`},
		next: func() {
			_, err := x.Person.Revoke(x.Ctx, g.ID())
			must(x, err)
		},
		says: func() string {
			rec, err := x.Agent.Open(x.Ctx, req, "")
			all, lerr := x.Agent.Grants(x.Ctx, req.Session)
			must(x, lerr)
			if listed := slices.ContainsFunc(all.Items, func(o client.Grant) bool { return o.ID == g.ID() }); listed && rec.State == bridge.StatePending {
				x.T.Error("it does not count, and is listed")
			}
			return outcomeOf(err, string(rec.State))
		},
	}
}

func givenScene(x rig.Intruder) scene {
	var gs [2]bridge.Grant
	var ids [2]string
	for n := range gs {
		ids[n] = x.Made("given", func() { gs[n], _ = given(x, inSession(bridge.ScopeSession)) })
	}
	store := grant.NewGrants(x.Daemons[0].Documents())
	dropped, err := store.Revoke(x.Ctx, gs[0])
	if err != nil || !dropped {
		x.T.Fatal(dropped, err)
	}
	return scene{
		id: ids[0], other: x.Stored("given", ids[1]), forge: [2]string{"true", "false"},
		says: func() string { // of a request that gives its grant once more
			again, err := store.Give(x.Ctx, gs[0])
			if !again.Empty() {
				return outcomeOf(err, "given again")
			}
			return outcomeOf(err, "revoked")
		},
	}
}

func memoryScene(x rig.Intruder) scene {
	memory, session := x.Agent.Approvals(), samples.Session()
	remember := func(key string, s bridge.Scope) string {
		return x.Made("memory", func() { must(x, memory.Set(x.Ctx, key, s, session)) })
	}
	recall := func() string {
		s, err := memory.Get(x.Ctx, "mine", session)
		return outcomeOf(err, string(s))
	}
	return scene{
		id: remember("mine", bridge.ScopeOnce), other: x.Stored("memory", remember("other", bridge.ScopeSession)),
		forge: [2]string{"once", "session"}, next: func() { recall() }, says: recall,
	}
}

func noteScene(x rig.Intruder) scene {
	store, name := documents.NewNotes(x.Daemons[0].Documents()), "passkey invitation:"+samples.Session()
	put := func(name, value string) string {
		_, err := store.PutNote(x.Ctx, name, value, time.Hour)
		must(x, err)
		return name // the cards of other scenes have notes as well
	}
	return scene{
		id: put(name, "ana"), other: x.Stored("note", put(name+"-other", "bo")), forge: [2]string{"ana", "bo"},
		next: func() { must(x, store.DropNote(x.Ctx, name)) },
		says: func() string {
			v, err := store.Note(x.Ctx, name)
			return outcomeOf(err, v)
		},
	}
}

func leaseScene(x rig.Intruder) scene {
	store, name := documents.NewLeases(x.Daemons[0].Documents()), samples.Session()
	hold := func(name, holder string) bool {
		held, err := store.Hold(x.Ctx, name, holder, time.Hour)
		must(x, err)
		return held
	}
	lease := func(name string) string { return x.Made("lease", func() { hold(name, "me") }) }
	return scene{
		id: lease(name), other: x.Stored("lease", lease(name+"-other")), forge: [2]string{"me", "you"},
		next: func() { must(x, store.Release(x.Ctx, name, "me")) },
		says: func() string {
			if hold(name, "you") {
				return "free"
			}
			return "held"
		},
	}
}

func limitScene(x rig.Intruder) scene {
	store, name := turns.New(x.Daemons[0].Documents()), samples.Session()
	call := func(line, key string) bridge.Call {
		return bridge.Call{Platform: "slack", Key: key, Limits: []bridge.Limit{{Line: line, Calls: 1, Period: time.Hour}}}
	}
	turn := func(line, key string) string {
		switch wait, err := store.Turn(x.Ctx, call(line, key)); {
		case err != nil:
			return outcomeOf(err, "")
		case wait > 0:
			return "waits"
		}
		return "turn"
	}
	used := func(line string) string {
		return x.Made("limit", func() { turn(line, "first") })
	}
	return scene{
		id: used(name), other: x.Stored("limit", used(name+"-other")), forge: [2]string{`"turns":`, `"other":`},
		next: func() { must(x, store.HoldTurns(x.Ctx, call(name, ""), 0, time.Hour)) },
		says: func() string { return turn(name, "second") },
	}
}

func draftScene(x rig.Intruder) scene {
	store, ana := engine.NewDrafts(x.Daemons[0].Documents()), bridge.Actor{Platform: "slack", User: "U0ANA00001"}
	req := samples.One(bridge.WidgetSelect, samples.Choices("eu", "us")...)
	a, b := opensOne(x, req, ""), opensOne(x, req, "")
	save := func(rec bridge.Record, v string) string {
		_, err := store.ChangeDraft(x.Ctx, rec.Interaction.ID, 0, ana, func(*bridge.Draft) (bridge.Draft, bool) {
			return bridge.Draft{Actor: ana, Answers: map[string]bridge.Answer{"q": bridge.TextAnswer(v)}}, true
		})
		must(x, err)
		return string(rec.Interaction.ID)
	}
	return scene{
		id: save(a, "eu"), other: x.Stored("draft", save(b, "us")), forge: [2]string{`"eu"`, `"us"`},
		next: func() { save(a, "us") },
		says: func() string {
			mine, shown, err := store.Draft(x.Ctx, a.Interaction.ID, 0, ana)
			if mine == nil || shown == nil {
				return outcomeOf(err, "")
			}
			return outcomeOf(err, mine.Answers["q"].Text)
		},
	}
}
