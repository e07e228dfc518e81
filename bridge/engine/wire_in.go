package engine

// incoming creates the parts that process the actions of people, and the
// engine.
func (s shared) incoming(out outgoing) *Engine {
	settler := &Decisions{
		outcomes: s.Store, records: s.Store, seams: s.seams, journal: s.journal, evaluator: out.evaluator,
		people: s.people, mentions: s.cards.mentions, log: s.Log,
	}
	clicks := &Clicks{
		records: s.Store, drafts: s.Store, cards: s.cards, people: s.people, settler: settler, seams: s.seams, journal: s.journal,
		codes: &codes{notes: s.Store}, escalator: out.escalator, reader: out.reader,
		keys: s.Keys, linking: s.Linking, watcher: s.watcher, log: s.Log,
	}
	links := &Links{notes: s.Store, store: s.Store, journal: s.journal, clicks: clicks, log: s.Log}
	withdrawals := &withdrawals{
		records: s.Store, outcomes: s.Store, redactor: s.redactor, people: s.people, journal: s.journal,
		presence: s.Store, reach: out.reach,
	}
	return &Engine{
		People:      s.people,
		Journal:     s.journal,
		Links:       links,
		Redactor:    s.redactor,
		Clicks:      clicks,
		Decisions:   settler,
		Openings:    out.opener,
		Escalator:   out.escalator,
		seams:       s.seams,
		routes:      s.routes,
		rounds:      out.rounds,
		reach:       out.reach,
		reader:      out.reader,
		withdrawals: withdrawals,
		runs:        &runs{s.Store, withdrawals.records, withdrawals},
		dispatcher:  out.dispatcher,
		sweeper:     &sweeper{deadlines: s.Store, log: s.Log},
		receiver:    &receiver{leases: s.Store, redactor: s.redactor, platforms: s.platforms, standby: newStandbys(), log: s.Log, node: s.Node},
	}
}
