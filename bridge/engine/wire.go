package engine

import (
	"maps"

	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/tell"
)

// New returns an engine. Each part depends only on parts that are created
// before it. The engine cannot open or decide anything before [Engine.Use].
func New(o Options) *Engine {
	o.Default()
	db, log, seams, watcher := o.Store, o.Log, &Seams{}, Watcher{o.Observer}
	routes, platforms := routes(maps.Clone(o.Routes)), ByName(o.Platforms)
	entries := journal.New(db, db, log)
	redactor := &Redactor{hide: o.Redactor}
	people := people.New(routes, o.Directory, o.Agents)
	notifier := tell.New(platforms, people, o.Directory, routes, log)
	cards := &cards{
		records: db, drafts: db, seams: seams, redactor: redactor, mentions: notifier, platforms: platforms, keys: o.Keys, log: log,
	}

	judge := &judge{policy: o.Policy, version: o.PolicyVersion}
	composer := &composer{
		judge: judge, version: o.ConfigVersion, redactor: redactor, people: people, routes: routes, strangers: o.UnknownRequesters,
	}
	evaluator := &evaluator{
		records: db, outcomes: db, people: people, notifier: notifier, judge: judge, composer: composer, routes: routes, log: log,
	}
	reach := &reach{presence: db, platforms: platforms, composer: composer, notifier: notifier}
	openings := &Openings{
		limits: db, openings: db, leases: db, records: db, stops: db, composer: composer, reach: reach, seams: seams, log: log,
	}
	reader := &reader{records: db, history: o.History, seams: seams, redactor: redactor}
	decisions := &Decisions{
		outcomes: db, records: db, seams: seams, journal: entries, evaluator: evaluator, people: people, mentions: notifier, log: log,
	}
	clicks := &Clicks{
		records: db, drafts: db, cards: cards, people: people, decisions: decisions, seams: seams, journal: entries,
		codes: &codes{notes: db}, reader: reader, keys: o.Keys, linking: o.Linking, watcher: watcher, log: log,
	}
	withdrawals := &withdrawals{
		records: db, outcomes: db, redactor: redactor, people: people, journal: entries, presence: db, reach: reach,
	}
	return &Engine{
		People: people, Journal: entries, Redactor: redactor, Notifier: notifier, Clicks: clicks, Decisions: decisions, Openings: openings,
		Links: &Links{notes: db, store: db, journal: entries, clicks: clicks, log: log},

		seams: seams, routes: routes, reach: reach, reader: reader, withdrawals: withdrawals,
		rounds: &rounds{
			records: db, outcomes: db, reader: reader, opener: openings, composer: composer, routes: routes, redactor: redactor,
		},
		runs: &runs{db, db, withdrawals},
		dispatcher: &dispatcher{
			outbox: db, records: db, outcomes: db, seams: seams, platforms: platforms, cards: cards,
			threads: &threads{notes: db, shown: &ShownSessions{db}, reports: db, log: log},
			lost:    &lostCards{records: db, notes: db, reader: reader, platforms: platforms, log: log},
			watcher: watcher, redactor: redactor, log: log,
		},
		sweeper:  &sweeper{deadlines: db, log: log},
		receiver: &receiver{leases: db, redactor: redactor, platforms: platforms, standby: newStandbys(), log: log, node: o.Node},
	}
}
