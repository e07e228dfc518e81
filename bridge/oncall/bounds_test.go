package oncall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/oncall"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// TestExplosiveRules checks that no calendar rule takes long to evaluate, that
// a rule beyond the limits is an error, and that callers get an answer in time.
func TestExplosiveRules(t *testing.T) {
	t.Parallel()
	event := func(lines ...string) string {
		return "BEGIN:VEVENT\r\nUID:x\r\n" + strings.Join(lines, "\r\n") + "\r\nDTSTAMP:20261101T000000Z\r\nSUMMARY:ana\r\nEND:VEVENT\r\n"
	}
	list := func(n int) string {
		var s []string
		for i := range n {
			s = append(s, fmt.Sprint(i))
		}
		return strings.Join(s, ",")
	}
	since := func(year, rule string) string {
		return event("DTSTART:"+year+"0101T000000Z", "DTEND:"+year+"0101T010000Z", "RRULE:"+rule)
	}
	zone := func(n int, rule string) string {
		return "BEGIN:VTIMEZONE\r\nTZID:x\r\n" + strings.Repeat("BEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nRRULE:"+rule+"\r\nEND:STANDARD\r\n", n) +
			"END:VTIMEZONE\r\n" + event("DTSTART;TZID=x:20200101T000000", "DTEND;TZID=x:20200102T000000")
	}
	const never = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31"
	for name, c := range map[string]struct {
		events string
		fails  bool
	}{
		"secondly":        {since("2020", "FREQ=SECONDLY"), true},
		"secondly, never": {since("2020", "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=31"), true},
		"minutely":        {since("1970", "FREQ=MINUTELY;INTERVAL=1"), true},
		"hourly, never":   {since("1970", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=31"), true},
		"half-hourly":     {since("1970", "FREQ=DAILY;BYHOUR="+list(24)+";BYMINUTE=0,30"), true},
		"daily, never":    {since("1970", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31"), true},
		"monthly, never":  {strings.Repeat(since("1970", "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31"), 50), false},
		"yearly, never":   {since("1970", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31"), false},
		"daily, long":     {since("1970", "FREQ=DAILY"), false},
		"from year 1":     {since("0001", "FREQ=DAILY"), true},
		"many":            {strings.Repeat(since("1970", "FREQ=DAILY;BYHOUR="+list(24)), 201), true},
		"many, allowed":   {strings.Repeat(since("1970", "FREQ=DAILY;BYHOUR="+list(24)), 200), false},
		"never, often":    {strings.Repeat(since("1970", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31"), 200), true},
		"large":           {strings.Repeat(event("DTSTART:20200101T000000Z", "DTEND:20200102T000000Z"), 20000), true},
		"no end":          {event("DTSTART:20200101T000000Z", "DURATION:P999999999D"), false},
		"far apart":       {since("1970", never+";INTERVAL=9223372036854775807"), true},
		"long":            {since("1970", "FREQ=YEARLY;BYSETPOS=1"+strings.Repeat(",1", 500)), true},
		"calendars":       {strings.Repeat(since("1970", never)+"END:VCALENDAR\r\nBEGIN:VCALENDAR\r\n", 201), true},
		"folded":          {"X:y" + strings.Repeat("\n x", 1<<20/3-200) + "\r\n" + event("DTSTART:20200101T000000Z"), false},
		"zone":            {zone(1, "FREQ=YEARLY"), false},
		"zone, never":     {zone(20, never), false},
		"zone, many":      {zone(201, never), true},
		"zone, days":      {zone(1, "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR="+list(24)), true},
		"zone, seconds":   {zone(1, "FREQ=YEARLY;COUNT=2;BYSECOND="+list(60)), true},
		"zone, far apart": {zone(1, never+";INTERVAL=9223372036854775807"), true},
	} {
		feed := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n" + c.events + "END:VCALENDAR\r\n"
		all := oncall.New()
		all.Add("primary", "ical", oncall.ICal{URL: fake(t, map[string]string{"GET /feed.ics": feed}, nil) + "/feed.ics"})
		ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
		began := time.Now()
		got, err := all.OnCall(ctx, "primary", time.Now())
		took := time.Since(began)
		cancel()
		if took > await.Limit || c.fails && bridge.ErrorCode(err) != bridge.CodeUnavailable {
			t.Errorf("%s: %v, %v after %s", name, got, err, took)
		}
		began = time.Now()
		for range 100 {
			if _, again := all.OnCall(t.Context(), "primary", time.Now()); (again == nil) != (err == nil) && c.fails {
				t.Errorf("%s: %v, then %v", name, err, again)
			}
		}
		if d := time.Since(began); d > await.Limit {
			t.Errorf("%s: a hundred more calls took %s", name, d)
		}
		t.Logf("%s: %v, %v after %s", name, got, err, took)
	}
}

type stuck chan struct{}

func (s stuck) OnCall(context.Context, time.Time) ([]oncall.Entry, error) {
	<-s
	panic("it broke")
}

// TestStuckSchedule checks that a schedule that hangs or panics puts no one on
// call and does not block its callers.
func TestStuckSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := make(stuck)
		all := oncall.New()
		all.Add("primary", "ical", s)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if got, err := all.OnCall(ctx, "primary", time.Now()); bridge.ErrorCode(err) != bridge.CodeUnavailable || got != nil {
				t.Errorf("%v, %v", got, err)
			}
			cancel()
		}
		close(s)
		if got, err := all.OnCall(t.Context(), "primary", time.Now()); bridge.ErrorCode(err) != bridge.CodeUnavailable || got != nil || !strings.Contains(err.Error(), "it broke") {
			t.Errorf("%v, %v", got, err)
		}
	})
}
