// Package documents has the code that all parts of nod with documents share:
// errors with codes, notes that live for a limited time, and leases. It knows
// nothing about requests, or about any other kind of document. Each room
// declares its own kinds. Start with [DB].
package documents

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// DB is a database of documents, with a log for those that are ignored.
type DB struct {
	broker.Store
	Log *slog.Logger
}

// Refused logs a document that does not verify.
func (db DB) Refused(err error) { db.Log.Warn("a stored document was ignored", "error", err) }

// Drop removes a document and its member of an index, which has the same name,
// and reports whether it existed. If index is empty, the document is in no
// index. The same change can contain other additions.
func (db DB) Drop(ctx context.Context, k broker.Key, index string, also ...broker.Change) (existed bool, err error) {
	err = broker.Retry(ctx, func() error {
		docs, err := db.Get(ctx, k)
		if err != nil {
			return err
		}
		c := broker.Change{Replicated: true, Urgent: true}
		if index != "" {
			c.Unset = []broker.Member{{Index: index, Name: k.ID}}
		}
		if !docs[0].Exists() { // the document has expired, or its removal may not be on the replicas yet
			if c.If = []broker.Version{docs[0].At()}; c.Empty() {
				return db.Confirm(ctx, c.If...)
			}
			_, err = db.Do(ctx, c)
			return err
		}
		existed = true
		c.Drop = []broker.Version{docs[0].At()}
		for _, a := range also {
			c = c.With(a)
		}
		_, err = db.Do(ctx, c)
		return err
	})
	return existed, Public(err)
}

// Public returns an error from the broker as an error with a code.
func Public(err error) error {
	var stale *broker.Stale
	var untimely broker.Untimely
	var forged *broker.ForgedError
	var newer *broker.NewerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stale), errors.As(err, &untimely):
		return bridge.Errorf(bridge.CodeUnavailable, "not recorded, because of concurrent changes").WithHint("try again")
	case errors.As(err, new(broker.Passed)):
		return bridge.Wrap(bridge.CodeConflict, err, "audit log").
			WithHint("find out who wrote to Redis, and move the log aside; see docs/troubleshooting.md")
	case errors.As(err, &forged):
		return bridge.Wrap(bridge.CodeForbidden, err, "stored data")
	case errors.As(err, &newer):
		return bridge.Wrap(bridge.CodeInternal, err, "stored data").WithHint("run the version of nod that wrote it, or a newer one")
	}
	return err
}

// List returns the values of the existing documents among the given ones. It logs and
// counts those that do not verify or have a newer format.
func List[T any](ctx context.Context, db DB, kind broker.Docs[T], ids []string) (bridge.Page[T], error) {
	var out bridge.Page[T]
	var err error
	out.Items, err = kind.List(ctx, db, ids, func(unread error) {
		db.Refused(unread)
		out.Unreadable++
	})
	return out, Public(err)
}

// Names returns the names of members.
func Names(members []broker.Member) []string {
	out := make([]string, len(members))
	for n, m := range members {
		out[n] = m.Name
	}
	return out
}

// Owned returns the names that belong to an owner, or all names if owner is
// empty. A name starts with an agent, or with an agent and its session; see
// life.Owner.
func Owned(all []string, owner string) []string {
	if owner == "" {
		return all
	}
	var out []string
	for _, name := range all {
		if strings.HasPrefix(name, owner+"\x00") {
			out = append(out, name)
		}
	}
	return out
}

// RequireSession returns CodeInvalid for an empty session.
func RequireSession(session string) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	return nil
}
