package engine

// incoming creates the parts that process the actions of people, and the
// engine.
func (s shared) incoming(out outgoing) *Engine {
	stopper := &stopper{stops: s.Stops, records: s.Records, outcomes: s.Outcomes, journal: s.journal, statuses: s.statuses, log: s.Log}
	passkeys := newPasskeys(s)
	signer := &signer{
		keys: passkeys, notes: s.Notes, records: s.Records, people: s.people, reader: out.reader, journal: s.journal, log: s.Log,
	}
	settler := &settler{
		signer:   signer,
		outcomes: s.Outcomes, records: s.Records, granter: out.granter, journal: s.journal, evaluator: out.evaluator,
		people: s.people, mentions: s.cards.mentions, stopper: stopper, log: s.Log,
	}
	clicks := &clicks{
		records: s.Records, drafts: s.Drafts, cards: s.cards, people: s.people, settler: settler, journal: s.journal,
		codes: &codes{notes: s.Notes}, escalator: out.escalator, reader: out.reader,
		keys: s.Keys, linking: s.Linking, watcher: s.watcher, log: s.Log,
	}
	links := &Links{notes: s.Notes, store: s.Links, journal: s.journal, clicks: clicks, log: s.Log}
	grants := &Grants{
		store: s.Grants, granter: out.granter, people: s.people, routes: s.routes, journal: s.journal, log: s.Log,
	}
	noter := &noter{
		store: s.Steerings, platforms: s.platforms, redactor: s.redactor, nudge: make(chan struct{}, 1), log: s.Log,
	}
	sessions := &Sessions{
		memory: s.Memory, mailbox: s.Mailbox, records: s.Records, presence: s.Presence, stops: s.Stops, stopper: stopper,
		steerer: &steerer{store: s.Steerings, redactor: s.redactor, journal: s.journal, noter: noter, log: s.Log},
		history: s.History, people: s.people, agents: s.Agents, routes: s.routes, journal: s.journal,
	}
	sessions.reporter = &reporter{
		statuses: s.statuses, opener: out.opener, composer: out.composer, redactor: s.redactor, routes: s.routes, log: s.Log,
	}
	clicks.sessions = sessions
	withdrawals := &withdrawals{
		records: s.Records, outcomes: s.Outcomes, redactor: s.redactor, people: s.people, journal: s.journal,
		presence: s.Presence, reach: out.reach,
	}
	return &Engine{
		Audit: &Audit{
			store: s.Audit, leases: s.Leases, signer: s.Signer, retention: s.AuditRetention,
			log: s.Log, node: s.Node,
		},
		Grants:      grants,
		Links:       links,
		Passkeys:    passkeys,
		People:      s.people,
		Sessions:    sessions,
		routes:      s.routes,
		opener:      out.opener,
		rounds:      out.rounds,
		reach:       out.reach,
		reader:      out.reader,
		signer:      signer,
		withdrawals: withdrawals,
		runs:        &runs{s.Notes, withdrawals.records, withdrawals},
		clicks:      clicks,
		commands: &commands{
			records: s.Records, routes: s.routes, links: links, grants: grants, sessions: sessions, reader: out.reader,
			cards: s.cards, withdraw: withdrawals, people: s.people, redactor: s.redactor, directory: s.Directory, linking: s.Linking,
		},
		desk: &desk{
			records: s.Records, audit: s.Audit, reader: out.reader, cards: s.cards, people: s.people, grants: grants,
		},
		listener:   &listener{clicks: clicks, notes: s.Notes, sessions: sessions, shown: &shownSessions{s.Notes}},
		dispatcher: out.dispatcher,
		noter:      noter,
		sweeper:    &sweeper{deadlines: s.Deadlines, log: s.Log},
		receiver:   &receiver{leases: s.Leases, redactor: s.redactor, platforms: s.platforms, standby: newStandbys(), log: s.Log, node: s.Node},
	}
}
