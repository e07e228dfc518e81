package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/oncall"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
)

// Schedules returns the on-call schedules of a config. It calls skipped for
// each calendar event that cannot be read.
func Schedules(c config.Config, skipped func(schedule, event string, err error)) *oncall.Schedules {
	all := oncall.New()
	for name, o := range c.OnCall {
		service := func(s *config.Schedule) oncall.Service {
			return oncall.Service{URL: s.URL, Schedule: s.Schedule, Token: s.Token.Value()}
		}
		switch {
		case o.Rotation != nil:
			all.Add(name, "rotation", rotation(*o.Rotation))
		case o.ICal != nil:
			skip := func(event string, err error) { skipped(name, event, err) }
			all.Add(name, "ical", oncall.ICal{URL: o.ICal.URL.Value(), Skipped: skip})
		case o.PagerDuty != nil:
			all.Add(name, "pagerduty", oncall.PagerDuty(service(o.PagerDuty)))
		case o.GoAlert != nil:
			all.Add(name, "goalert", oncall.GoAlert(service(o.GoAlert)))
		}
	}
	return all
}

func rotation(r config.Rotation) oncall.Rotation {
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC // the config has been checked
	}
	return oncall.Rotation{People: r.People, Start: r.Start.In(zone), Every: time.Duration(r.Every)}
}

// schedules returns the schedules of a config. Its rotations continue the
// rotations of the previous config, because a person who leaves must not change
// the turns of others. A daemon that only opens requests stores no turn.
func (d *Daemon) schedules(ctx context.Context, c config.Config, notes documents.Notes, leases documents.Leases) (*oncall.Schedules, error) {
	all := Schedules(c, skippedEvents(d.log))
	for name, o := range c.OnCall {
		if o.Rotation == nil {
			continue
		}
		r := rotation(*o.Rotation)
		var err error
		if d.onlyOpens {
			r, _, err = continued(ctx, notes, name, r)
		} else {
			r, err = alone(ctx, notes, leases, name, r)
		}
		if err != nil {
			return nil, err
		}
		all.Add(name, "rotation", r)
	}
	return all, nil
}

// turnLease is the maximum time for which a crashed daemon prevents others from
// reading a turn.
const turnLease = 5 * time.Second

// alone continues a rotation and stores the result. It holds a lease, because
// another daemon could continue the same turn in a different way.
func alone(ctx context.Context, notes documents.Notes, leases documents.Leases, name string, r oncall.Rotation) (oncall.Rotation, error) {
	holder := uuid.NewString()
	for {
		held, err := leases.Hold(ctx, rotationNote(name), holder, turnLease)
		if err != nil {
			return r, err
		}
		if held {
			break
		}
		if !bridge.Pause(ctx, 20*time.Millisecond) {
			return r, ctx.Err()
		}
	}
	r, stored, err := continued(ctx, notes, name, r)
	if err == nil {
		err = storeTurn(ctx, notes, name, r, stored)
	}
	return r, errors.Join(err, leases.Release(ctx, rotationNote(name), holder))
}

// skippedEvents logs calendar events that cannot be read, each of them once.
func skippedEvents(log *slog.Logger) func(schedule, event string, err error) {
	var logged sync.Map
	return func(schedule, event string, err error) {
		if _, before := logged.LoadOrStore(schedule+"\n"+event, true); before {
			return
		}
		log.Warn("event of an on-call calendar skipped", "schedule", schedule, "event", event, "error", err)
	}
}

// rotationNote is the key of the note with the current turn of a rotation.
func rotationNote(name string) string { return "rotation:" + name }

// continued returns a rotation that continues the stored one, and the note with
// the stored one.
func continued(ctx context.Context, notes documents.Notes, name string, r oncall.Rotation) (oncall.Rotation, string, error) {
	stored, err := notes.Note(ctx, rotationNote(name))
	if err != nil {
		return r, "", err
	}
	if r, err = after(stored, r); err != nil {
		return r, "", bridge.Wrap(bridge.CodeInternal, err, "rotation %s", name)
	}
	return r, stored, nil
}

// storeTurn stores a rotation unless the note contains it already.
func storeTurn(ctx context.Context, notes documents.Notes, name string, r oncall.Rotation, note string) error {
	now, err := json.Marshal(r)
	if err != nil || string(now) == note {
		return err
	}
	return notes.SetNote(ctx, rotationNote(name), string(now), 0)
}

// after returns a rotation that continues the rotation in a note. If the note
// is empty, it returns the rotation unchanged.
func after(note string, r oncall.Rotation) (oncall.Rotation, error) {
	if note == "" {
		return r, nil
	}
	var before oncall.Rotation
	if err := json.Unmarshal([]byte(note), &before); err != nil {
		return r, err
	}
	return r.After(before, time.Now()), nil
}

// Shift holds the current data of a schedule.
type Shift struct {
	bridge.Crew
	Until   time.Time // end of the current turn; zero if the schedule is not a rotation
	Skipped []string  // calendar events that cannot be read, with the reason
}

// OnCall reads each schedule of a config once, in the same way as the daemon.
// It stores nothing, and does not verify the seals of stored turns, because
// that requires keys.
func OnCall(ctx context.Context, c config.Config, client redis.UniversalClient) map[string]Shift {
	var mu sync.Mutex
	skipped := map[string][]string{}
	all := Schedules(c, func(schedule, event string, err error) {
		mu.Lock()
		defer mu.Unlock()
		skipped[schedule] = append(skipped[schedule], event+": "+bridge.Cause(err))
	})
	c.Groups = map[string]config.Group{}
	until := map[string]time.Time{}
	for name, o := range c.OnCall {
		c.Groups[name] = config.Group{OnCall: name}
		if o.Rotation == nil {
			continue
		}
		r := rotation(*o.Rotation)
		if client != nil {
			stored, _ := documents.ReadNote(ctx, store.NewReader(client, c.Redis.Prefix), rotationNote(name)) // another check reports that Redis is unreachable
			if next, err := after(stored, r); err == nil {
				r = next
			}
		}
		all.Add(name, "rotation", r)
		until[name] = r.Until(time.Now())
	}
	people := buildDirectory(c, 0, nil, nil, all)
	out := map[string]Shift{}
	for name := range c.OnCall {
		crew := people.Crew(ctx, name, time.Now())
		mu.Lock()
		out[name] = Shift{Crew: crew, Until: until[name], Skipped: skipped[name]}
		mu.Unlock()
	}
	return out
}
