package broker

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Setting implements bridge.Openings.
func (op *openings) Setting(ctx context.Context, q bridge.SettingQuery) (bridge.Setting, error) {
	var grants []*redis.SliceCmd
	var last []*redis.ZSliceCmd
	var now *redis.TimeCmd
	err := op.together(ctx, func(p redis.Pipeliner) {
		grants = op.covering(ctx, p, q.Agent, q.Session, q.Grants)
		for _, s := range everywhere(q.Session) {
			_, able := op.sets(s)
			last = append(last, p.ZRevRangeWithScores(ctx, able, 0, 0))
		}
		now = p.Time(ctx)
	})
	if err != nil {
		return bridge.Setting{}, err
	}
	var s bridge.Setting
	if s.Grants, err = unexpired(grants); err != nil {
		return bridge.Setting{}, err
	}
	for _, l := range last {
		if err := errors.Join(l.Err(), now.Err()); err != nil {
			return bridge.Setting{}, unavailable(err)
		}
		able := l.Val()
		s.FrontEnds = s.FrontEnds || len(able) > 0 && able[0].Score >= float64(now.Val().UnixMilli())
	}
	return s, nil
}
