package bridge_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
)

// TestRemindAfter checks where a reminder stands among the steps of a request.
func TestRemindAfter(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration) bridge.Duration { return bridge.Duration(d) }
	ask := bridge.Step{After: after(5 * time.Minute), Ask: []string{"bo"}}
	end := bridge.Step{After: after(time.Minute), GiveUp: bridge.StateExpired}
	remind := func(d time.Duration) bridge.Step { return bridge.Step{After: after(d), Remind: true} }
	most, ten := bridge.RemindAfter{Percent: 75}, bridge.RemindAfter{Duration: 10 * time.Minute}
	for name, x := range map[string]struct {
		a       bridge.RemindAfter
		steps   []bridge.Step
		timeout time.Duration
		want    []bridge.Step
	}{
		"never":            {bridge.RemindAfter{}, []bridge.Step{ask}, time.Hour, []bridge.Step{ask}},
		"a share":          {most, nil, time.Hour, []bridge.Step{remind(45 * time.Minute)}},
		"a duration":       {ten, nil, time.Hour, []bridge.Step{remind(10 * time.Minute)}},
		"too late":         {ten, nil, 10 * time.Minute, nil},
		"too short":        {most, nil, time.Minute, nil},
		"after a step":     {ten, []bridge.Step{ask}, time.Hour, []bridge.Step{ask, remind(5 * time.Minute)}},
		"after the end":    {ten, []bridge.Step{ask, end}, time.Hour, []bridge.Step{ask, end}},
		"before a step":    {bridge.RemindAfter{Duration: time.Minute}, []bridge.Step{ask}, time.Hour, []bridge.Step{remind(time.Minute), {After: after(4 * time.Minute), Ask: []string{"bo"}}}},
		"together with it": {bridge.RemindAfter{Duration: 5 * time.Minute}, []bridge.Step{ask}, time.Hour, []bridge.Step{ask, remind(0)}},
	} {
		before := append([]bridge.Step(nil), x.steps...)
		if diff := cmp.Diff(x.want, x.a.Steps(x.steps, x.timeout)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(before, x.steps); diff != "" && len(before) > 0 {
			t.Errorf("%s: the steps of the route changed: %s", name, diff)
		}
	}
}

// TestPostpone checks that quiet hours of one route postpone its own steps, in their
// order, and those of no other route.
func TestPostpone(t *testing.T) {
	t.Parallel()
	step := func(after time.Duration, route string) bridge.Step {
		return bridge.Step{After: bridge.Duration(after), For: route, Remind: true}
	}
	const m = time.Minute
	for name, x := range map[string]struct {
		steps, want []bridge.Step
		n           int
	}{
		"alone":       {[]bridge.Step{step(m, "a"), step(2*m, "a")}, []bridge.Step{step(60*m, "a"), step(2*m, "a")}, 0},
		"another":     {[]bridge.Step{step(m, "a"), step(2*m, "b"), step(m, "a")}, []bridge.Step{step(2*m, "b"), step(58*m, "a"), step(3*m, "a")}, 0},
		"later":       {[]bridge.Step{step(m, "b"), step(m, "a"), step(90*m, "b")}, []bridge.Step{step(m, "b"), step(60*m, "a"), step(30*m, "b")}, 1},
		"at one time": {[]bridge.Step{step(m, "a"), step(60*m, "b")}, []bridge.Step{step(60*m, "a"), step(0, "b")}, 0},
	} {
		if diff := cmp.Diff(x.want, bridge.Postpone(x.steps, x.n, 60*m)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
