package telegram

import (
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// queries holds the clicks that are waiting for answerCallbackQuery, by ID. The
// lock of the hub guards it.
type queries struct {
	clock *core.Clock
	byID  map[string]*query
}

type query struct {
	answered chan struct{}
	done     bool
	created  time.Time
	reaction core.Reaction
	// Who clicked, and where.
	user, chat string
	message    int
}

// add stores a new click on a message.
func (q *queries) add(id, user, chat string, message int) *query {
	q.byID[id] = &query{answered: make(chan struct{}), created: q.clock.Now(), user: user, chat: chat, message: message}
	return q.byID[id]
}

// answer implements the method answerCallbackQuery.
func (q *queries) answer(a arguments) (any, *failure) {
	cb := q.byID[a.text("callback_query_id")]
	if cb == nil || cb.done || q.clock.Since(cb.created) > queryTTL {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if raw.Runes(a.text("text")) > maxToast {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	cb.done = true
	cb.reaction = core.Reaction{OK: true, Toast: a.text("text"), Alert: a.text("show_alert") == "true"}
	close(cb.answered)
	return true, nil
}
