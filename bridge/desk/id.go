package desk

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// request returns the ID that text refers to: a complete ID, the beginning of
// the ID of a pending request that the person may read, or the word for the
// newest of these requests. It returns CodeNotFound or CodeInvalid if there is
// no such request.
func (d *Desk) request(ctx context.Context, who bridge.Actor, text string) (bridge.ID, error) {
	if id, err := bridge.ParseID(text); err == nil {
		return id, nil
	}
	found, more, err := d.engine.Pending(ctx, 0, func(r bridge.Record) (bool, error) {
		return d.engine.People.MayRead(ctx, r.Interaction, who), nil
	})
	if err != nil {
		return "", err
	}
	if more { // one of the others may be the newest, or begin in the same way
		return "", bridge.Errorf(bridge.CodeInvalid, "too many requests are pending").WithHint("use the complete ID, which is on the card")
	}
	ids := make([]bridge.ID, len(found.Items))
	for n, r := range found.Items {
		ids[n] = r.Interaction.ID
	}
	slices.SortFunc(ids, func(a, b bridge.ID) int { return strings.Compare(string(b), string(a)) }) // newest first
	return bridge.Expand(text, ids)
}

// grant returns the ID of the grant that text refers to, among the grants that
// the person may revoke.
func (d *Desk) grant(ctx context.Context, who bridge.Actor, text string) (string, error) {
	all, err := d.grants.ListFor(ctx, who)
	if err != nil {
		return "", err
	}
	return bridge.Expand(text, bridge.GrantIDs(all.Items))
}

// notExpanded returns the reply if text is not the beginning of exactly one ID,
// or an error that people cannot fix.
func notExpanded(err error, none string) (string, error) {
	switch bridge.ErrorCode(err) {
	case bridge.CodeNotFound:
		return none, nil
	case bridge.CodeInvalid:
		e := bridge.PublicError(err)
		return upper(e.Message) + ". " + upper(e.Hint) + ".", nil
	}
	return "", err
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
