package core

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
)

// readNames reads the documents that an opening depends on.
func (in *interactions) readNames(ctx context.Context, o *life.Opening) error {
	docs, err := in.db.Get(ctx, o.Keys()...)
	if err != nil {
		return documents.Public(err)
	}
	first, second, err := o.Found(docs)
	if err != nil {
		return documents.Public(err)
	}
	for _, p := range []struct {
		id   bridge.ID
		into **life.Docs
	}{{first, &o.First}, {second, &o.Second}, {o.Interaction.Previous, &o.Previous}, {o.Interaction.Root, &o.Root}} {
		if p.id == "" {
			continue
		}
		d, err := in.docs(ctx, p.id)
		switch {
		case bridge.ErrorCode(err) == bridge.CodeNotFound: // only the name document is left
		case err != nil:
			return err
		case d.Problem != "":
			return bridge.Errorf(bridge.CodeForbidden, "interaction %s does not verify: %s", p.id, d.Problem).WithHint("ask again with another key or ID")
		default:
			*p.into = d
		}
	}
	return nil
}

// Known implements Interactions.
func (in *interactions) Known(ctx context.Context, o life.Opening) (bool, error) {
	if err := in.readNames(ctx, &o); err != nil || o.First == nil {
		return false, err
	}
	if o.Retries() {
		return true, nil
	}
	now := in.db.Now()
	return o.Identity.Repeat(*o.First.Record(now), now) != bridge.Asks, nil
}
