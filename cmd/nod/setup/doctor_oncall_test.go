package setup

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
)

// TestDoctorShifts checks what the doctor says about a schedule.
func TestDoctorShifts(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		shift daemon.Shift
		want  string
	}{
		{daemon.Shift{Crew: bridge.Crew{People: []string{"bo"}}, Until: until}, "[ok on call until 2026-11-30 09:00 UTC: bo]"},
		{daemon.Shift{Crew: bridge.Crew{People: []string{"ana", "bo"}}}, "[ok on call now: ana, bo]"},
		{daemon.Shift{}, "[warning no one is on call now]"},
		{daemon.Shift{Crew: bridge.Crew{People: []string{"bo"}, Strangers: []string{"zoe"}}}, "[warning on call, but not in the config: zoe ok on call now: bo]"},
		{daemon.Shift{Crew: bridge.Crew{Unread: "HTTP 500"}}, "[failed cannot be read: HTTP 500]"},
		{
			daemon.Shift{Crew: bridge.Crew{People: []string{"bo"}}, Skipped: []string{"x: invalid time"}},
			"[warning cannot read all of an event: x: invalid time ok on call now: bo]",
		},
	} {
		d := Doctor{}
		d.examineShift("oncall.primary", x.shift)
		var got []string
		for _, f := range d.Findings {
			got = append(got, string(f.Status)+" "+f.Detail)
			if f.Status != bridge.FindingOK && f.Fix == "" {
				t.Errorf("%s has no fix", f.Detail)
			}
		}
		if s := fmt.Sprint(got); s != x.want {
			t.Errorf("%s; want %s", s, x.want)
		}
	}
}
