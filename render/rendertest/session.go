package rendertest

import (
	"time"

	"github.com/nodbridge/nod/bridge"
)

// sessions returns the message of a session in each phase, and a card of a
// reported session.
func sessions() []Sample {
	at := func(minute int) time.Time { return time.Date(2024, 12, 9, 12, minute, 0, 0, time.UTC) }
	i := base()
	i.Kind, i.Presentation, i.Prompt, i.Session = bridge.KindNotice, bridge.PresentSession, "Session s1", "s1"
	status := bridge.SessionStatus{
		Agent: i.Agent, ID: "s1", State: bridge.SessionWorking, Title: "Fix <the> login", Host: "laptop", Folder: "~/shop", Branch: "main",
		Step: "Bash: make test", Steps: 41, Started: at(0), Since: at(1), Stepped: at(2), Updated: at(2),
		Subagents: map[string]string{"a1": "Explore"},
	}
	of := func(change func(*bridge.SessionView)) bridge.View {
		v := view(ended(i, bridge.StateAnswered))
		v.Session = &bridge.SessionView{Status: status}
		change(v.Session)
		return v
	}
	card := approval()
	card.Session, card.Turn = "s1", "a1"
	reported := view(pending(card))
	reported.Session = &bridge.SessionView{Status: status}
	by := bridge.Actor{Platform: "slack", User: "U1", Name: "Ana", Person: "ana"}
	return []Sample{
		{"session-working", of(func(*bridge.SessionView) {})},
		{"session-waiting", of(func(s *bridge.SessionView) {
			s.Pending = []bridge.Record{pending(card), pending(card)}
			s.Links, s.Decided = []string{"https://chat.example/1", ""}, bridge.Tally{Approved: 3, Denied: 1}
		})},
		{"session-idle", of(func(s *bridge.SessionView) {
			s.Status.State, s.Status.Waits, s.Status.Last = bridge.SessionWaiting, "your next message", "All **tests** pass."
		})},
		{"session-stopped", of(func(s *bridge.SessionView) {
			s.Stopped = &bridge.Stop{Agent: i.Agent, Session: "s1", By: by, At: at(3)}
		})},
		{"session-finished", of(func(s *bridge.SessionView) {
			s.Status.State, s.Status.Last = bridge.SessionFinished, "Done: see `login.go`"
		})},
		{"session-unknown", view(ended(i, bridge.StateAnswered))},
		{"approval-reported", reported},
	}
}
