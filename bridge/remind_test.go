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
