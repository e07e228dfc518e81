package fake

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Union is the ports that the fakes have. The others are nil, and a part that
// calls one of them fails its test.
type Union struct {
	*Store
	*Log
	rest
}

type rest struct{ bridge.Store }

// Together returns the ports of a store and a log.
func Together(s *Store, l *Log) bridge.Store { return Union{s, l, rest{}} }

// Reported implements bridge.Reports. No session is reported.
func (Union) Reported(context.Context, string, string) (s bridge.SessionStatus, known bool, err error) {
	return s, false, nil
}

func (Union) Draft(context.Context, bridge.ID, int, bridge.Actor) (mine, shown *bridge.Draft, err error) {
	return nil, nil, nil
}
func (Union) SaveDraft(context.Context, bridge.ID, int, bridge.Draft) error { return nil }

// Question is a question to ana and bo in channel C of a session.
func Question(prompt string) bridge.Interaction {
	var i bridge.Interaction
	i.Kind, i.Prompt, i.Agent, i.Session = bridge.KindAsk, prompt, "ci", "s"
	i.Questions = []bridge.Question{{ID: "q", Widget: bridge.WidgetConfirm}}
	i.Destinations = []bridge.Destination{{Platform: "chat", Channel: "C"}}
	i.Responders = []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}, {Person: "bo", Platform: "chat", User: "U-bo"}}
	i.Created, i.Deadline = time.Now(), time.Now().Add(time.Hour)
	i.Round, i.MaxRounds = 1, 3
	return i
}

// Log keeps the entries of the audit log.
type Log struct {
	mu      sync.Mutex
	Entries []bridge.AuditEntry
	Refuses error
}

func (l *Log) Audit(_ context.Context, a bridge.AuditEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Refuses == nil {
		l.Entries = append(l.Entries, a)
	}
	return l.Refuses
}

// Types are the types of the entries, in order.
func (l *Log) Types() []bridge.AuditType {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []bridge.AuditType
	for _, a := range l.Entries {
		out = append(out, a.Type)
	}
	return out
}
