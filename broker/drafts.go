package broker

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// draftKeep is the time for which drafts are kept after the last change. It is
// longer than any interaction can be open.
const draftKeep = bridge.MaxTimeout + time.Hour

// drafts implements bridge.Drafts.
type drafts struct{ *core }

func draftField(a bridge.Actor) string { return a.Platform + "/" + a.User }

// Draft implements bridge.Drafts.
func (ds *drafts) Draft(ctx context.Context, id bridge.ID, destination int, actor bridge.Actor) (mine, shown *bridge.Draft, err error) {
	f, err := ds.client.HGetAll(ctx, ds.keys.draft(id)).Result()
	if err != nil {
		return nil, nil, unavailable(err)
	}
	if mine, err = decodeDraft(f[draftField(actor)]); err != nil {
		return nil, nil, err
	}
	shown, err = decodeDraft(f[f["@"+strconv.Itoa(destination)]])
	return mine, shown, err
}

func decodeDraft(s string) (*bridge.Draft, error) {
	if s == "" {
		return nil, nil
	}
	var d bridge.Draft
	if err := json.Unmarshal([]byte(s), &d); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "stored draft")
	}
	return &d, nil
}

// SaveDraft implements bridge.Drafts.
func (ds *drafts) SaveDraft(ctx context.Context, id bridge.ID, destination int, d bridge.Draft) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "draft")
	}
	key, field := ds.keys.draft(id), draftField(d.Actor)
	return ds.transact(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, key, field, raw, "@"+strconv.Itoa(destination), field)
		p.PExpire(ctx, key, draftKeep)
		return nil
	})
}
