package broker

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// steeringGrace is the time after which the author of a message learns that
	// it still waits.
	steeringGrace = 2 * time.Second
	// steeringKept is the time for which a message is kept once its author
	// knows what became of it.
	steeringKept = time.Hour
)

// steerings implements bridge.Steerings.
type steerings struct{ *core }

// inbox runs the script on the messages of a session. The key may be empty.
func (ss *steerings) inbox(ctx context.Context, agent, session, key string, args ...any) (*redis.Cmd, error) {
	if err := requireSession(session); err != nil {
		return nil, err
	}
	return ss.runInbox(ctx, agent, session, key, args...)
}

func (ss *steerings) runInbox(ctx context.Context, agent, session, key string, args ...any) (*redis.Cmd, error) {
	k := ss.keys
	cmd := ss.run(ctx, ss.scripts.inbox, []string{
		k.steering(""), k.untold(), k.lastSteering(), k.waiting(agent, session), k.steeringReader(agent, session),
		k.steeringKey(agent, session, key),
	}, args...)
	return cmd, unavailable(cmd.Err())
}

// PutSteering implements bridge.Steerings.
func (ss *steerings) PutSteering(ctx context.Context, s bridge.Steering, key string) (bridge.Steering, error) {
	if key == "" {
		key = ss.node + strconv.FormatInt(time.Now().UnixNano(), 36)
	}
	cmd, err := ss.inbox(ctx, s.Agent, s.Session, key, "put", string(data(s)), bridge.MaxSteerings,
		bridge.SteeringTTL.Milliseconds(), steeringGrace.Milliseconds())
	if err != nil {
		return s, err
	}
	if full, ok := cmd.Val().(string); ok && full == "full" {
		return s, bridge.Errorf(bridge.CodeRateLimited, "too many messages wait for this session (at most %d)", bridge.MaxSteerings)
	}
	return decodeSteering(cmd.Val())
}

// TakeSteerings implements bridge.Steerings.
func (ss *steerings) TakeSteerings(ctx context.Context, t bridge.Taking) ([]bridge.Steering, error) {
	continued := ""
	if t.Continued != nil {
		continued = "0"
		if *t.Continued {
			continued = "1"
		}
	}
	cmd, err := ss.inbox(ctx, t.Agent, t.Session, "", "take", t.Reader, t.Lease.Milliseconds(), t.Limit, continued, bridge.MaxContinued)
	if err != nil {
		return nil, err
	}
	return decodeSteerings(cmd)
}

// EndSteerings implements bridge.Steerings.
func (ss *steerings) EndSteerings(ctx context.Context, agent, session, through string, f bridge.Fate) (int, error) {
	if through != "" {
		if _, err := parseEntry(through); err != nil {
			return 0, err
		}
	}
	cmd, err := ss.inbox(ctx, agent, session, "", "finish", through, string(f))
	if err != nil {
		return 0, err
	}
	return cmd.Int()
}

// Steering implements bridge.Steerings.
func (ss *steerings) Steering(ctx context.Context, session, id string) (bridge.Steering, error) {
	f, err := ss.client.HMGet(ctx, ss.keys.steering(id), "d", "f", "at").Result()
	if err != nil {
		return bridge.Steering{}, unavailable(err)
	}
	if f[0] == nil {
		return bridge.Steering{}, bridge.Errorf(bridge.CodeNotFound, "message %q not found", id)
	}
	return decodeSteering([]any{id, f[0], f[1], f[2], "", ""})
}

// UntoldSteerings implements bridge.Steerings.
func (ss *steerings) UntoldSteerings(ctx context.Context, limit int, lease time.Duration) ([]bridge.Steering, error) {
	now, err := ss.client.Time(ctx).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	cmd, err := ss.runInbox(ctx, "", "", "", "due", limit, lease.Milliseconds())
	if err != nil {
		return nil, err
	}
	all, err := decodeSteerings(cmd)
	if err != nil {
		return nil, err
	}
	var out []bridge.Steering
	for _, s := range all {
		if s.Fate == bridge.FateWaiting && now.Sub(entryTime(s.ID)) >= bridge.SteeringTTL {
			if _, err := ss.EndSteerings(ctx, s.Agent, s.Session, s.ID, bridge.FateExpired); err != nil {
				return out, err
			}
			continue // it is due again
		}
		out = append(out, s)
	}
	return out, nil
}

// ToldSteering implements bridge.Steerings.
func (ss *steerings) ToldSteering(ctx context.Context, s bridge.Steering) error {
	note := ""
	if s.Note != nil {
		note = s.Note.Text()
	}
	_, err := ss.inbox(ctx, s.Agent, s.Session, "", "told", s.ID, string(s.Told), note, bridge.SteeringTTL.Milliseconds(),
		steeringKept.Milliseconds())
	return err
}

func entryTime(id string) time.Time {
	e, _ := parseEntry(id) // the script makes such IDs
	return time.UnixMilli(int64(e.ms))
}

func decodeSteerings(cmd *redis.Cmd) ([]bridge.Steering, error) {
	all, err := cmd.Slice()
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.Steering, len(all))
	for n, v := range all {
		if out[n], err = decodeSteering(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeSteering reads a message as the script returns it.
func decodeSteering(v any) (bridge.Steering, error) {
	list, _ := v.([]any)
	f := make([]string, max(8, len(list)))
	for n, v := range list {
		f[n], _ = v.(string)
	}
	var s bridge.Steering
	err := json.Unmarshal([]byte(f[1]), &s)
	s.ID, s.Fate, s.Told, s.Again = f[0], bridge.Fate(f[2]), bridge.Fate(f[4]), f[7] != ""
	if ms, perr := strconv.ParseInt(f[3], 10, 64); perr == nil {
		s.Done = time.UnixMilli(ms).UTC()
	}
	if err == nil && f[5] != "" {
		s.Note = &bridge.MessageRef{}
		err = json.Unmarshal([]byte(f[5]), s.Note)
	}
	if err != nil {
		return s, bridge.Wrap(bridge.CodeInternal, err, "stored message")
	}
	return s, nil
}
