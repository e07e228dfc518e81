package engine

import (
	"maps"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// shared is what parts in both directions use.
type shared struct {
	Options
	store     bridge.Store // with proofs, if there is a prover
	prover    *proof.Prover
	routes    routes
	platforms platforms
	watcher   watcher
	journal   *journal
	redactor  *redactor
	people    *People
	channels  *Channels
	cards     *cards
}

// wire makes an engine of parts, each of those that come before it.
func wire(o Options, store bridge.Store, prover *proof.Prover) *Engine {
	s := shared{Options: o, store: store, prover: prover, routes: maps.Clone(o.Routes), watcher: watcher{o.Observer}}
	s.platforms = platformsOf(o.Platforms)
	s.journal = &journal{store: store, notes: store, node: o.Node, log: o.Log}
	s.redactor = &redactor{hide: o.Redactor}
	s.people = &People{routes: s.routes, directory: o.Directory, agents: o.Agents}
	s.channels = &Channels{
		notes: store, records: store, routes: s.routes, people: s.people, journal: s.journal, log: o.Log,
	}
	s.cards = &cards{records: store, redactor: s.redactor, channels: s.channels, keys: o.Keys, log: o.Log}
	out := s.outgoing()
	return s.incoming(out)
}

// outgoing is the parts that carry requests to people.
type outgoing struct {
	evaluator  *evaluator
	granter    *granter
	reach      *reach
	opener     *opener
	reader     *reader
	rounds     *rounds
	escalator  *escalator
	dispatcher *dispatcher
}

func (s shared) outgoing() outgoing {
	judge := &judge{policy: s.Policy, version: s.PolicyVersion}
	composer := &composer{judge: judge, redactor: s.redactor, webhooks: s.Webhooks, routes: s.routes}
	var out outgoing
	out.evaluator = &evaluator{
		records: s.store, outcomes: s.store, people: s.people, judge: judge, composer: composer, routes: s.routes,
		log: s.Log,
	}
	out.granter = &granter{
		store: s.store, records: s.store, outcomes: s.store, people: s.people, journal: s.journal,
		evaluator: out.evaluator, prover: s.prover, log: s.Log,
	}
	out.reach = &reach{presence: s.store, platforms: s.platforms, channels: s.channels, composer: composer}
	out.opener = &opener{
		limits: s.store, openings: s.store, leases: s.store, records: s.store, composer: composer, reach: out.reach,
		granter: out.granter, log: s.Log,
	}
	out.reader = &reader{records: s.store, granter: out.granter, people: s.people, redactor: s.redactor}
	out.rounds = &rounds{
		records: s.store, reader: out.reader, opener: out.opener, composer: composer, reach: out.reach,
		routes: s.routes, redactor: s.redactor,
	}
	out.escalator = &escalator{
		records: s.store, outbox: s.store, outcomes: s.store, platforms: s.platforms, journal: s.journal,
		people: s.people, directory: s.Directory, watcher: s.watcher, log: s.Log,
	}
	hooks := &hooks{
		outbox: s.store, reader: out.reader, webhooks: s.Webhooks, slots: slotsOf(s.Webhooks), watcher: s.watcher,
		log: s.Log,
	}
	out.dispatcher = &dispatcher{
		outbox: s.store, records: s.store, outcomes: s.store, hooks: hooks, escalator: out.escalator,
		platforms: s.platforms, cards: s.cards, threads: &threads{notes: s.store, log: s.Log}, watcher: s.watcher,
		log: s.Log,
	}
	return out
}
