package engine

import (
	"context"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

// Drafts stores unfinished answers until some time after the deadline.
type Drafts struct{ db documents.DB }

// NewDrafts returns the unfinished answers in a database.
func NewDrafts(db documents.DB) Drafts { return Drafts{db} }

// drafted holds the drafts of an interaction by account. For each destination,
// it also holds the account whose draft the card shows.
type drafted struct {
	Of      map[string]bridge.Draft `json:"of"`
	Shown   map[int]string          `json:"shown"`
	Changes int64                   `json:"changes"` // number of all changes so far
}

var draftDocs = broker.NewDocs[drafted]("draft", 2)

// draftKeep is the time for which drafts are kept after the last change. It is
// longer than any interaction can be open.
const draftKeep = bridge.MaxTimeout + time.Hour

func account(a bridge.Actor) string { return a.Platform + "/" + a.User }

// Draft returns the draft of the actor, and the draft on the card of the
// destination. Each is nil if it does not exist.
func (ds Drafts) Draft(ctx context.Context, id bridge.ID, destination int, actor bridge.Actor) (mine, shown *bridge.Draft, err error) {
	all, _, err := draftDocs.Get(ctx, ds.db, string(id))
	var forged *broker.ForgedError
	if errors.As(err, &forged) {
		ds.db.Refused(err)
		return nil, nil, nil
	}
	of := func(who string) *bridge.Draft {
		if d, ok := all.Of[who]; ok {
			return &d
		}
		return nil
	}
	return of(account(actor)), of(all.Shown[destination]), documents.Public(err)
}

// ChangeDraft changes the draft of an actor, stores it as the draft that the card
// shows, and returns it. The function change gets the stored draft, or nil. It may be
// called again, if another click changes the draft at the same time. If it returns
// false, nothing is stored.
func (ds Drafts) ChangeDraft(
	ctx context.Context, id bridge.ID, destination int, actor bridge.Actor, change func(mine *bridge.Draft) (bridge.Draft, bool),
) (d bridge.Draft, err error) {
	_, err = draftDocs.Update(ctx, ds.db, string(id), func(all *drafted, doc *broker.Doc) (broker.Change, error) {
		var mine *bridge.Draft
		if stored, ok := all.Of[account(actor)]; ok {
			mine = &stored
		}
		var keep bool
		if d, keep = change(mine); !keep {
			return broker.Change{}, errUnchanged
		}
		if all.Of == nil {
			all.Of, all.Shown = map[string]bridge.Draft{}, map[int]string{}
		}
		all.Changes++
		d.Change = all.Changes
		all.Of[account(actor)], all.Shown[destination], doc.Keep = d, account(actor), draftKeep
		return broker.Change{Urgent: true}, nil // otherwise, no question with several fields could be answered
	})
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	return d, documents.Public(err)
}

var errUnchanged = errors.New("the draft does not change")
