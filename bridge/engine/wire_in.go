package engine

// incoming makes the parts that bring back what people do, and the engine.
func (s shared) incoming(out outgoing) *Engine {
	settler := &settler{
		outcomes: s.store, records: s.store, granter: out.granter, journal: s.journal, evaluator: out.evaluator,
		people: s.people, log: s.Log,
	}
	clicks := &clicks{
		records: s.store, drafts: s.store, cards: s.cards, people: s.people, settler: settler, journal: s.journal,
		codes: &codes{notes: s.store}, channels: s.channels, escalator: out.escalator, reader: out.reader,
		keys: s.Keys, linking: s.Linking, watcher: s.watcher, log: s.Log,
	}
	links := &Links{notes: s.store, store: s.store, journal: s.journal, clicks: clicks, log: s.Log}
	grants := &Grants{
		store: s.store, granter: out.granter, people: s.people, routes: s.routes, journal: s.journal, log: s.Log,
	}
	return &Engine{
		Audit: &Audit{
			store: s.store, leases: s.store, prover: s.prover, signer: s.Signer, retention: s.AuditRetention,
			log: s.Log, node: s.Node,
		},
		Channels: s.channels,
		Evidence: &Evidence{records: s.store, raw: s.Store, prover: s.prover, signer: s.Signer, log: s.Log},
		Grants:   grants,
		Links:    links,
		People:   s.people,
		Sessions: &Sessions{memory: s.store, mailbox: s.store, records: s.store, presence: s.store},
		routes:   s.routes,
		opener:   out.opener,
		rounds:   out.rounds,
		reach:    out.reach,
		reader:   out.reader,
		withdrawals: &withdrawals{
			records: s.store, outcomes: s.store, redactor: s.redactor, people: s.people, journal: s.journal,
		},
		clicks: clicks,
		commands: &commands{
			records: s.store, channels: s.channels, links: links, grants: grants, reader: out.reader,
			people: s.people, redactor: s.redactor, directory: s.Directory, linking: s.Linking,
		},
		dispatcher: out.dispatcher,
		sweeper:    &sweeper{deadlines: s.store, log: s.Log},
		receiver:   &receiver{leases: s.store, platforms: s.platforms, standby: newStandbys(), log: s.Log, node: s.Node},
	}
}
