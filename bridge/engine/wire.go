package engine

import (
	"maps"

	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
)

// shared holds what parts in both directions use.
type shared struct {
	Options
	routes    routes
	platforms platforms
	watcher   watcher
	journal   *journal.Journal
	redactor  *redactor
	people    *people.People
	cards     *cards
	statuses  *statuses
}

// wire creates the parts of an engine. Each part depends only on parts created
// before it.
func wire(o Options) *Engine {
	s := shared{Options: o, routes: maps.Clone(o.Routes), watcher: watcher{o.Observer}}
	s.platforms = platformsOf(o.Platforms)
	s.journal = journal.New(s.Store, s.Store, o.Log)
	s.redactor = &redactor{hide: o.Redactor}
	s.people = people.New(s.routes, o.Directory, o.Agents)
	mentions := &mentioner{directory: o.Directory, platforms: s.platforms, people: s.people, log: o.Log}
	s.statuses = &statuses{
		reports: s.Store, stops: s.Store, records: s.Store, history: o.History, log: o.Log,
	}
	s.cards = &cards{
		records: s.Store, drafts: s.Store, statuses: s.statuses, redactor: s.redactor, mentions: mentions, platforms: s.platforms,
		keys: o.Keys, log: o.Log,
	}
	out := s.outgoing()
	return s.incoming(out)
}

// outgoing holds the parts that carry requests to people.
type outgoing struct {
	notifier   *notifier
	evaluator  *evaluator
	granter    *granter
	composer   *composer
	reach      *reach
	opener     *opener
	reader     *reader
	rounds     *rounds
	escalator  *escalator
	dispatcher *dispatcher
}

func (s shared) outgoing() outgoing {
	judge := &judge{policy: s.Policy, version: s.PolicyVersion}
	composer := &composer{
		judge: judge, version: s.ConfigVersion, redactor: s.redactor, people: s.people, webhooks: s.Webhooks, routes: s.routes,
		strangers: s.UnknownRequesters,
	}
	out := outgoing{composer: composer, notifier: &notifier{platforms: s.platforms, people: s.people, directory: s.Directory, routes: s.routes, log: s.Log}}
	out.evaluator = &evaluator{
		records: s.Store, outcomes: s.Store, people: s.people, mentions: s.cards.mentions, judge: judge, composer: composer, routes: s.routes, log: s.Log,
		notifier: out.notifier,
	}
	out.granter = &granter{
		store: s.Store, records: s.Store, outcomes: s.Store, people: s.people, journal: s.journal,
		evaluator: out.evaluator, log: s.Log,
	}
	out.reach = &reach{presence: s.Store, platforms: s.platforms, composer: composer, notifier: out.notifier}
	out.opener = &opener{
		limits: s.Store, openings: s.Store, leases: s.Store, records: s.Store, stops: s.Store, composer: composer,
		reach: out.reach, granter: out.granter, log: s.Log,
	}
	out.reader = &reader{records: s.Store, history: s.History, granter: out.granter, redactor: s.redactor}
	out.rounds = &rounds{
		records: s.Store, outcomes: s.Store, reader: out.reader, opener: out.opener, composer: composer, reach: out.reach,
		routes: s.routes, redactor: s.redactor,
	}
	out.escalator = &escalator{
		notifier: out.notifier, records: s.Store, outbox: s.Store, outcomes: s.Store, cards: s.cards,
		journal: s.journal, notes: s.Store, reader: out.reader, watcher: s.watcher,
	}
	hooks := &hooks{
		outbox: s.Store, reader: out.reader, webhooks: s.Webhooks, slots: slotsOf(s.Webhooks), watcher: s.watcher,
		teller: &teller{directory: s.Directory, platforms: s.platforms, cards: s.cards, log: s.Log}, log: s.Log,
	}
	lost := &lostCards{records: s.Store, notes: s.Store, reader: out.reader, platforms: s.platforms, log: s.Log}
	out.dispatcher = &dispatcher{
		outbox: s.Store, records: s.Store, outcomes: s.Store, hooks: hooks, escalator: out.escalator,
		platforms: s.platforms, cards: s.cards,
		threads:  &threads{notes: s.Store, shown: &shownSessions{s.Store}, reports: s.Store, log: s.Log},
		statuses: s.statuses, lost: lost, watcher: s.watcher, redactor: s.redactor, log: s.Log,
	}
	return out
}
