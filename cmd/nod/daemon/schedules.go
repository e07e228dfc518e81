package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/oncall"
	"github.com/nodbridge/nod/config"
)

// Schedules returns the on-call schedules of a config. It calls skipped for each
// event of a calendar that cannot be read.
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
		zone = time.UTC // the config was checked
	}
	return oncall.Rotation{People: r.People, Start: r.Start.In(zone), Every: time.Duration(r.Every)}
}

// schedules returns the schedules of a config, with rotations that continue those
// of the config before it: a person who leaves must not move the turns of others.
func (d *Daemon) schedules(ctx context.Context, c config.Config, notes bridge.Notes) (*oncall.Schedules, error) {
	all := Schedules(c, skippedEvents(d.log))
	for name, o := range c.OnCall {
		if o.Rotation == nil {
			continue
		}
		r, err := continued(ctx, notes, name, rotation(*o.Rotation))
		if err != nil {
			return nil, err
		}
		all.Add(name, "rotation", r)
	}
	return all, nil
}

// skippedEvents logs events of calendars that cannot be read, each once.
func skippedEvents(log *slog.Logger) func(schedule, event string, err error) {
	var logged sync.Map
	return func(schedule, event string, err error) {
		if _, before := logged.LoadOrStore(schedule+"\n"+event, true); before {
			return
		}
		log.Warn("event of an on-call calendar skipped", "schedule", schedule, "event", event, "error", err)
	}
}

// continued returns a rotation as it continues the stored one, and stores it.
func continued(ctx context.Context, notes bridge.Notes, name string, r oncall.Rotation) (oncall.Rotation, error) {
	key := "rotation:" + name
	stored, err := notes.Note(ctx, key)
	if err != nil {
		return r, err
	}
	var before oncall.Rotation
	if stored != "" {
		if err := json.Unmarshal([]byte(stored), &before); err != nil {
			return r, bridge.Wrap(bridge.CodeInternal, err, "rotation %s", name)
		}
	}
	r = r.After(before, time.Now())
	now, err := json.Marshal(r)
	if err != nil || string(now) == stored {
		return r, err
	}
	if err := notes.DropNote(ctx, key); err != nil {
		return r, err
	}
	_, err = notes.PutNote(ctx, key, string(now), 0)
	return r, err
}
