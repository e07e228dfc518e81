package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

// Linked stores the accounts that people linked. It is safe for concurrent use.
type Linked struct{ db documents.DB }

// NewLinked returns the linked accounts in a database.
func NewLinked(db documents.DB) Linked { return Linked{db} }

var linkDocs = broker.NewDocs[bridge.Link]("link", 1)

// linkIndex is the index of the linked accounts.
const linkIndex = "links"

// Linked returns the link of an account. Its Person is empty if the account is not linked.
func (ls Linked) Linked(ctx context.Context, platform, user string) (bridge.Link, error) {
	l, _, err := linkDocs.Get(ctx, ls.db, platform+"/"+user)
	var forged *broker.ForgedError
	if errors.As(err, &forged) { // the person must link the account again
		ls.db.Refused(err)
		return bridge.Link{}, nil
	}
	return l, documents.Public(err)
}

// PutLink stores a link.
func (ls Linked) PutLink(ctx context.Context, l bridge.Link) error {
	name := l.Platform + "/" + l.User
	_, err := linkDocs.Update(ctx, ls.db, name, func(stored *bridge.Link, _ *broker.Doc) (broker.Change, error) {
		*stored = l
		return broker.Change{Set: []broker.Member{{Index: linkIndex, Name: name}}}, nil
	})
	return documents.Public(err)
}

// DropLink removes a link and reports whether it existed.
func (ls Linked) DropLink(ctx context.Context, platform, user string) (bool, error) {
	return ls.db.Drop(ctx, linkDocs.Key(platform+"/"+user), linkIndex)
}

// Links returns all links.
func (ls Linked) Links(ctx context.Context) (bridge.Page[bridge.Link], error) {
	all, err := ls.db.Range(ctx, broker.Query{Index: linkIndex})
	if err != nil {
		return bridge.Page[bridge.Link]{}, documents.Public(err)
	}
	ids := documents.Names(all)
	slices.Sort(ids)
	return documents.List(ctx, ls.db, linkDocs, ids)
}
