package engine

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/tell"
)

// nonceLen is the length of the nonce of an amendment. It distinguishes only amendments of
// one interaction that expect the same state.
const nonceLen = 10

// Amend stores an amendment.
func Amend(ctx context.Context, records core.Interactions, r bridge.Record, a life.Amendment) error {
	a.Nonce = rand.Text()[:nonceLen]
	_, err := records.Mark(ctx, r.Interaction.ID, a)
	return err
}

// amendTries is the maximum number of attempts to amend, because another
// amendment can come first.
const amendTries = 5

// AmendNow stores an amendment of the newest state of a request.
func AmendNow(ctx context.Context, records core.Interactions, id bridge.ID, make func(bridge.Record) life.Amendment) error {
	var err error
	for range amendTries {
		var r bridge.Record
		if r, err = records.Load(ctx, id); err != nil {
			return err
		}
		if err = Amend(ctx, records, r, make(r)); bridge.ErrorCode(err) != bridge.CodeConflict {
			return err
		}
	}
	return err
}

// cardFailed handles the failure of a card that was meant to notify people. The
// other cards then state that these people were not notified.
func cardFailed(ctx context.Context, records core.Interactions, id bridge.ID, destination int) error {
	r, err := records.Load(ctx, id)
	if err == nil && !r.State.Final() && slices.ContainsFunc(r.Interaction.Told, func(t bridge.Told) bool { return slices.Contains(t.At, destination) }) {
		err = AmendNow(ctx, records, id, func(r bridge.Record) life.Amendment {
			a := life.Amendment{Expect: r.Amended, Interaction: r.Interaction}
			tell.Hurry(&a, r)
			return a
		})
	}
	if code := bridge.ErrorCode(err); code == bridge.CodeNotFound || code == bridge.CodeConflict {
		return nil
	}
	return err
}
