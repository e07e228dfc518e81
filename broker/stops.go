package broker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// stops implements bridge.Stops.
type stops struct{ *core }

// PutStop implements bridge.Stops.
func (ss *stops) PutStop(ctx context.Context, s bridge.Stop) (bridge.Stop, error) {
	raw, err := ss.change(ctx, s.Agent, s.Session, string(data(s)), s.By)
	switch {
	case err != nil:
		return bridge.Stop{}, err
	case raw == "full":
		return bridge.Stop{}, bridge.Errorf(bridge.CodeRateLimited, "too many stopped sessions (at most %d)", bridge.MaxStopped).
			WithHint("resume the sessions that no longer exist: list them with nod sessions list")
	}
	return decodeStop(raw)
}

// DropStop implements bridge.Stops.
func (ss *stops) DropStop(ctx context.Context, agent, session string, by bridge.Actor) (bool, error) {
	done, err := ss.change(ctx, agent, session, "", by)
	return done == "resumed", err
}

func (ss *stops) change(ctx context.Context, agent, session, stop string, by bridge.Actor) (string, error) {
	if err := requireSession(session); err != nil {
		return "", err
	}
	reply, err := ss.run(ctx, ss.scripts.stop, []string{ss.keys.stopped(), ss.keys.journal()},
		agent+ownerMark+session, stop, bridge.MaxStopped, agent, session, data(by)).Text()
	return reply, unavailable(err)
}

// Stopped implements bridge.Stops.
func (ss *stops) Stopped(ctx context.Context, agent, session string) (bridge.Stop, bool, error) {
	if session == "" {
		return bridge.Stop{}, false, nil
	}
	raw, err := ss.client.HGet(ctx, ss.keys.stopped(), agent+ownerMark+session).Result()
	if errors.Is(err, redis.Nil) {
		return bridge.Stop{}, false, nil
	}
	if err != nil {
		return bridge.Stop{}, false, unavailable(err)
	}
	s, err := decodeStop(raw)
	return s, err == nil, err
}

// ListStops implements bridge.Stops.
func (ss *stops) ListStops(ctx context.Context, agent string) ([]bridge.Stop, error) {
	all, err := ss.client.HGetAll(ctx, ss.keys.stopped()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	var out []bridge.Stop
	for owner, raw := range all {
		if who, _, _ := strings.Cut(owner, ownerMark); agent != "" && who != agent {
			continue
		}
		s, err := decodeStop(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func decodeStop(raw string) (bridge.Stop, error) {
	var s bridge.Stop
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return s, bridge.Wrap(bridge.CodeInternal, err, "stored stop")
	}
	return s, nil
}
