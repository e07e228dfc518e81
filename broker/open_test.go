package broker_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// BenchmarkOpen measures the time of a typical opening and of one with
// openMore, and how much of it Redis uses.
func BenchmarkOpen(b *testing.B) {
	client := redistest.Start(b).Client(b)
	s, err := broker.New(b.Context(), broker.Options{Client: client, Node: "n"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for _, c := range []struct {
		name   string
		change func(*bridge.Opening)
	}{
		{"plain", func(*bridge.Opening) {}},
		{"rare", func(o *bridge.Opening) {
			o.Failures = map[int]string{1: "no such channel"}
			o.Interaction.Steps = []bridge.Step{{After: bridge.Duration(time.Minute), Remind: true}}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			client.ConfigResetStat(b.Context())
			for b.Loop() {
				now := time.Now().UTC()
				o := bridge.Opening{
					Interaction: bridge.Interaction{
						Ask: bridge.Ask{
							Kind: bridge.KindApproval, Prompt: "Deploy?", OnTimeout: bridge.OnTimeoutExpire,
							Approval: &bridge.Approval{Tool: "bash", Scopes: []bridge.Scope{bridge.ScopeOnce}},
						},
						Agent:    "ci",
						Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Hour)},
						Placement: bridge.Placement{
							Destinations: []bridge.Destination{
								{Platform: "slack", Channel: "C1"}, {Platform: "telegram", Channel: "-1"},
							},
						},
						Digest: "d",
					},
					Timeout: bridge.Response{State: bridge.StateExpired},
				}
				if o.Interaction.ID, err = bridge.NewID(); err != nil {
					b.Fatal(err)
				}
				c.change(&o)
				if _, created, err := s.Open(b.Context(), o); err != nil || !created {
					b.Fatal(created, err)
				}
			}
			stats, err := client.InfoMap(b.Context(), "commandstats").Result()
			if err != nil {
				b.Fatal(err)
			}
			_, spent, _ := strings.Cut(stats["Commandstats"]["cmdstat_evalsha"], "usec_per_call=")
			spent, _, _ = strings.Cut(spent, ",")
			us, err := strconv.ParseFloat(spent, 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(us, "redis-µs/op")
		})
	}
}
