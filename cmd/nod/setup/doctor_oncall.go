package setup

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

// examineSchedules reads each on-call schedule once. It reports the person on
// call now, and events that cannot be read.
func (d *Doctor) examineSchedules(ctx context.Context, c config.Config, client redis.UniversalClient) {
	all := daemon.OnCall(ctx, c, client)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d.examineShift("oncall."+name, all[name])
	}
}

func (d *Doctor) examineShift(check string, s daemon.Shift) {
	for _, event := range s.Skipped {
		d.add(check, bridge.FindingWarning, "cannot read all of an event: "+event, "correct the event in the calendar")
	}
	switch {
	case s.Unread != "":
		d.add(check, bridge.FindingFailed, "cannot be read: "+s.Unread, "check its url, schedule and token, and whether this machine reaches the service; until then, the schedule gives no one access")
		return
	case len(s.Strangers) > 0:
		d.add(check, bridge.FindingWarning, "on call, but not in the config: "+render.Few(s.Strangers), "set email or ids of that person under people to the values in the schedule")
	case len(s.People) == 0:
		d.add(check, bridge.FindingWarning, "no one is on call now", "add a shift to the schedule; until then, steps that ask this schedule keep looking for people")
	}
	switch {
	case len(s.People) == 0:
	case s.Until.IsZero():
		d.add(check, bridge.FindingOK, "on call now: "+render.Few(s.People), "")
	default:
		d.add(check, bridge.FindingOK, "on call until "+render.When(s.Until)+": "+strings.Join(s.People, ", "), "")
	}
}
