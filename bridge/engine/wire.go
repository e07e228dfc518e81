package engine

import (
	"maps"

	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
)

// shared holds what parts in both directions use.
type shared struct {
	Options
	seams     *Seams
	routes    routes
	platforms platforms
	watcher   Watcher
	journal   *journal.Journal
	redactor  *Redactor
	people    *people.People
	cards     *cards
}

// wire creates the parts of an engine. Each part depends only on parts created
// before it.
func wire(o Options) *Engine {
	s := shared{Options: o, seams: &Seams{}, routes: maps.Clone(o.Routes), watcher: Watcher{o.Observer}}
	s.platforms = ByName(o.Platforms)
	s.journal = journal.New(s.Store, s.Store, o.Log)
	s.redactor = &Redactor{hide: o.Redactor}
	s.people = people.New(s.routes, o.Directory, o.Agents)
	mentions := &mentioner{directory: o.Directory, platforms: s.platforms, people: s.people, log: o.Log}
	s.cards = &cards{
		records: s.Store, drafts: s.Store, seams: s.seams, redactor: s.redactor, mentions: mentions, platforms: s.platforms,
		keys: o.Keys, log: o.Log,
	}
	out := s.outgoing()
	return s.incoming(out)
}

// outgoing holds the parts that carry requests to people.
type outgoing struct {
	notifier   *notifier
	evaluator  *evaluator
	composer   *composer
	reach      *reach
	opener     *Openings
	reader     *reader
	rounds     *rounds
	escalator  *Escalator
	dispatcher *dispatcher
}

func (s shared) outgoing() outgoing {
	judge := &judge{policy: s.Policy, version: s.PolicyVersion}
	composer := &composer{
		judge: judge, version: s.ConfigVersion, redactor: s.redactor, people: s.people, routes: s.routes,
		strangers: s.UnknownRequesters,
	}
	out := outgoing{composer: composer, notifier: &notifier{platforms: s.platforms, people: s.people, directory: s.Directory, routes: s.routes, log: s.Log}}
	out.evaluator = &evaluator{
		records: s.Store, outcomes: s.Store, people: s.people, mentions: s.cards.mentions, judge: judge, composer: composer, routes: s.routes, log: s.Log,
		notifier: out.notifier,
	}
	out.reach = &reach{presence: s.Store, platforms: s.platforms, composer: composer, notifier: out.notifier}
	out.opener = &Openings{
		limits: s.Store, openings: s.Store, leases: s.Store, records: s.Store, stops: s.Store, composer: composer,
		reach: out.reach, seams: s.seams, log: s.Log,
	}
	out.reader = &reader{records: s.Store, history: s.History, seams: s.seams, redactor: s.redactor}
	out.rounds = &rounds{
		records: s.Store, outcomes: s.Store, reader: out.reader, opener: out.opener, composer: composer,
		routes: s.routes, redactor: s.redactor,
	}
	lost := &lostCards{records: s.Store, notes: s.Store, reader: out.reader, platforms: s.platforms, log: s.Log}
	out.escalator = &Escalator{
		notifier: out.notifier, records: s.Store, outcomes: s.Store, cards: s.cards,
		journal: s.journal, notes: s.Store, reader: out.reader, lost: lost, watcher: s.watcher,
	}
	out.dispatcher = &dispatcher{
		outbox: s.Store, records: s.Store, outcomes: s.Store, seams: s.seams, escalator: out.escalator,
		platforms: s.platforms, cards: s.cards,
		threads: &threads{notes: s.Store, shown: &ShownSessions{s.Store}, reports: s.Store, log: s.Log},
		lost:    lost, watcher: s.watcher, redactor: s.redactor, log: s.Log,
	}
	return out
}
