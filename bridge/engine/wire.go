package engine

import (
	"log/slog"
	"maps"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/tell"
)

// New returns an engine. Each part depends only on parts that are created
// before it. The engine cannot open or decide anything before [Engine.Use].
func New(o Options) *Engine {
	o.Default()
	store, log, seams, watcher := o.Store, o.Log, &Seams{}, Watcher{o.Observer}
	db := documents.DB{Store: o.DB, Log: log}
	notes, leases, presence := documents.NewNotes(db), documents.NewLeases(db), Presence{db}
	routes, platforms := routes(maps.Clone(o.Routes)), ByName(o.Platforms)
	entries := journal.New(db, o.Signer)
	redactor := &Redactor{hide: o.Redactor}
	people := people.New(routes, o.Directory, o.Agents)
	notifier := tell.New(platforms, people, o.Directory, routes, log)
	cards := &cards{
		records: store, drafts: Drafts{db}, seams: seams, redactor: redactor, mentions: notifier, platforms: platforms, keys: o.Keys, log: log,
	}

	judge := &judge{policy: o.Policy, version: o.PolicyVersion}
	composer := &composer{
		judge: judge, version: o.ConfigVersion, redactor: redactor, people: people, routes: routes, strangers: o.UnknownRequesters,
	}
	evaluator := &evaluator{
		records: store, people: people, notifier: notifier, judge: judge, composer: composer, routes: routes, log: log,
	}
	reach := &reach{presence: presence, platforms: platforms, composer: composer, notifier: notifier}
	openings := &Openings{
		db: db, leases: leases, records: store, composer: composer, reach: reach, seams: seams, log: log,
	}
	reader := &reader{records: store, history: o.History, seams: seams, redactor: redactor}
	decisions := &Decisions{
		records: store, seams: seams, journal: entries, evaluator: evaluator, people: people, mentions: notifier, log: log,
	}
	clicks := &Clicks{
		records: store, drafts: Drafts{db}, cards: cards, people: people, decisions: decisions, seams: seams, journal: entries,
		codes: &codes{notes: notes}, reader: reader, keys: o.Keys, linking: o.Linking, watcher: watcher, log: log,
	}
	withdrawals := &withdrawals{
		records: store, redactor: redactor, people: people, journal: entries, presence: presence, reach: reach,
	}
	return &Engine{
		People: people, Journal: entries, Redactor: redactor, Notifier: notifier, Clicks: clicks, Decisions: decisions, Openings: openings, Presence: presence, Notes: notes,
		Links: &Links{notes: notes, store: Linked{db}, journal: entries, clicks: clicks, log: log},

		seams: seams, routes: routes, reach: reach, reader: reader, withdrawals: withdrawals,
		rounds: &rounds{
			records: store, reader: reader, opener: openings, composer: composer, routes: routes, redactor: redactor,
		},
		runs: &runs{notes, store, withdrawals},
		dispatcher: &dispatcher{
			outbox: store, records: store, seams: seams, platforms: platforms, cards: cards,
			threads: &threads{notes: notes, shown: &ShownSessions{notes}, seams: seams, log: log},
			lost:    &lostCards{records: store, notes: notes, reader: reader, platforms: platforms, log: log},
			calls:   callSlots(platforms), watcher: watcher, redactor: redactor, log: log,
		},
		sweeper:  &sweeper{deadlines: store, log: log},
		receiver: &receiver{leases: leases, redactor: redactor, platforms: platforms, standby: newStandbys(), log: log, node: o.Node},
	}
}

// Clicks applies the clicks and typed text from people. Its methods in the list
// of deciders are the checks of every click.
type Clicks struct {
	records   core.Interactions
	drafts    Drafts
	cards     *cards
	people    *people.People
	decisions *Decisions
	seams     *Seams
	journal   *journal.Journal
	codes     *codes
	reader    *reader
	keys      bridge.Keyring
	linking   bool
	watcher   Watcher
	log       *slog.Logger
}

// Decisions makes decisions final, or records them as votes. Its methods in the
// list of deciders are the checks of every decision.
type Decisions struct {
	records   core.Interactions
	journal   *journal.Journal
	evaluator *evaluator
	people    *people.People
	mentions  *tell.Notifier
	seams     *Seams
	log       *slog.Logger
}

// Openings opens requests. Its methods in the list of openers take part in each
// opening.
type Openings struct {
	db       documents.DB
	leases   documents.Leases
	records  core.Interactions
	composer *composer
	reach    *reach
	seams    *Seams
	log      *slog.Logger
}

// dispatcher processes the jobs of the outbox.
type dispatcher struct {
	outbox    core.Outbox
	records   core.Interactions
	seams     *Seams
	platforms platforms
	cards     *cards
	threads   *threads
	lost      *lostCards
	calls     map[string]chan struct{} // one element for each call in progress, by platform; see draw
	watcher   Watcher
	redactor  *Redactor
	log       *slog.Logger
}
