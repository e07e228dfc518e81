package engine

import "maps"

// shared holds what parts in both directions use.
type shared struct {
	Options
	Ports
	routes    routes
	platforms platforms
	watcher   watcher
	journal   *journal
	redactor  *redactor
	people    *People
	cards     *cards
	statuses  *statuses
}

// wire creates the parts of an engine. Each part depends only on parts created
// before it.
func wire(o Options) *Engine {
	s := shared{Options: o, Ports: portsOf(o.Store), routes: maps.Clone(o.Routes), watcher: watcher{o.Observer}}
	s.platforms = platformsOf(o.Platforms)
	s.journal = &journal{store: s.Audit, notes: s.Notes, log: o.Log}
	s.redactor = &redactor{hide: o.Redactor}
	s.people = &People{routes: s.routes, directory: o.Directory, agents: o.Agents, strangers: o.UnknownRequesters}
	mentions := &mentioner{directory: o.Directory, platforms: s.platforms, people: s.people, log: o.Log}
	s.statuses = &statuses{
		reports: s.Reports, stops: s.Stops, records: s.Records, history: o.History, log: o.Log,
	}
	s.cards = &cards{
		records: s.Records, drafts: s.Drafts, statuses: s.statuses, redactor: s.redactor, mentions: mentions, platforms: s.platforms,
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
	}
	out := outgoing{composer: composer, notifier: &notifier{platforms: s.platforms, people: s.people, directory: s.Directory, log: s.Log}}
	out.evaluator = &evaluator{
		records: s.Records, outcomes: s.Outcomes, people: s.people, mentions: s.cards.mentions, judge: judge, composer: composer, routes: s.routes, log: s.Log,
		notifier: out.notifier,
	}
	out.granter = &granter{
		store: s.Grants, records: s.Records, outcomes: s.Outcomes, people: s.people, journal: s.journal,
		evaluator: out.evaluator, log: s.Log,
	}
	out.reach = &reach{presence: s.Presence, platforms: s.platforms, composer: composer, notifier: out.notifier}
	out.opener = &opener{
		limits: s.Limits, openings: s.Openings, leases: s.Leases, records: s.Records, stops: s.Stops, composer: composer,
		reach: out.reach, granter: out.granter, log: s.Log,
	}
	out.reader = &reader{records: s.Records, history: s.History, granter: out.granter, redactor: s.redactor}
	out.rounds = &rounds{
		records: s.Records, outcomes: s.Outcomes, reader: out.reader, opener: out.opener, composer: composer, reach: out.reach,
		routes: s.routes, redactor: s.redactor,
	}
	out.escalator = &escalator{
		notifier: out.notifier, records: s.Records, outbox: s.Outbox, outcomes: s.Outcomes, cards: s.cards,
		journal: s.journal, notes: s.Notes, reader: out.reader, watcher: s.watcher,
	}
	hooks := &hooks{
		outbox: s.Outbox, reader: out.reader, webhooks: s.Webhooks, slots: slotsOf(s.Webhooks), watcher: s.watcher,
		teller: &teller{directory: s.Directory, platforms: s.platforms, cards: s.cards, log: s.Log}, log: s.Log,
	}
	lost := &lostCards{records: s.Records, notes: s.Notes, reader: out.reader, platforms: s.platforms, log: s.Log}
	out.dispatcher = &dispatcher{
		outbox: s.Outbox, records: s.Records, outcomes: s.Outcomes, hooks: hooks, escalator: out.escalator,
		platforms: s.platforms, cards: s.cards,
		threads:  &threads{notes: s.Notes, shown: &shownSessions{s.Notes}, reports: s.Reports, log: s.Log},
		statuses: s.statuses, lost: lost, watcher: s.watcher, redactor: s.redactor, log: s.Log,
	}
	return out
}
