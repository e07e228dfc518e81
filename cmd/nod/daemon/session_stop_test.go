package daemon_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// maxStopTime is the limit of the time from a click on Stop to the last call of a
// tool, for 95 of 100 clicks. It counts when NOD_STOP_RUNS asks for a measurement.
const maxStopTime = 2 * time.Second

// stopClicks returns the number of sessions that TestStopClick stops on each
// platform.
func stopClicks() int {
	n, err := strconv.Atoi(os.Getenv("NOD_STOP_RUNS"))
	if err != nil {
		return 3
	}
	return (n + len(rig.Services) - 1) / len(rig.Services)
}

// TestStopClick checks, in random interleavings of tool calls with a stop from
// each platform, that no tool call starts after the stop, and how long the stop
// takes. The calls of a session ask two daemons, as hooks do.
func TestStopClick(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Daemons: 2, Config: withSessions(s)})
			var took []time.Duration
			first := seed.Of(t)
			for n := range stopClicks() {
				m := &reported{Rig: r, service: s, session: fmt.Sprintf("s%d", n)}
				d, err := m.stopsWhileCalling(rand.New(rand.NewPCG(first, uint64(n))))
				if err != nil {
					t.Fatalf("session %d: %v", n, err)
				}
				took = append(took, d)
			}
			slices.Sort(took)
			p95 := took[(len(took)*95+99)/100-1]
			t.Logf("%d stops: median %v, p95 %v, longest %v", len(took), took[len(took)/2], p95, took[len(took)-1])
			if os.Getenv("NOD_STOP_RUNS") != "" && p95 > maxStopTime {
				t.Errorf("95%% of the stops took up to %v", p95)
			}
		})
	}
}

// toolCalls makes the tool calls of a session until they are denied.
type toolCalls struct {
	*reported
	mu     sync.Mutex
	last   time.Time // start of the last call
	made   int
	halted time.Time // return of the stop
	late   int       // calls that asked after that, and ran
}

// run asks before each call, as a hook does, and then makes it.
func (c *toolCalls) run(ctx context.Context, through *client.Client, length func() time.Duration) error {
	for {
		asked := time.Now()
		stop, err := through.Stopped(ctx, c.session)
		if err != nil || stop != nil {
			return err
		}
		c.mu.Lock()
		c.last = time.Now()
		c.made++
		if !c.halted.IsZero() && asked.After(c.halted) {
			c.late++
		}
		c.mu.Unlock()
		bridge.Pause(ctx, length())
	}
}

// stopsWhileCalling stops the session while its agent calls tools, and returns the
// time from the click to the last call and to the end of a pending request.
func (m *reported) stopsWhileCalling(r *rand.Rand) (time.Duration, error) {
	m.T.Helper()
	ctx, cancel := context.WithTimeout(m.Ctx, await.Limit)
	defer cancel()
	m.report(bridge.SessionReport{State: bridge.SessionWorking, Title: "Run " + m.session}, "Run "+m.session)
	req := samples.Approval()
	req.Session = m.session
	pending, err := m.Agent.Open(ctx, req, "")
	if err != nil {
		return 0, err
	}
	calls := &toolCalls{reported: m}
	streams := []uint64{r.Uint64(), r.Uint64(), r.Uint64()}
	errs := make(chan error, len(streams)+1)
	for n, stream := range streams {
		through := client.New(m.Daemons[n%2].URL, rig.TestAgentToken, nil)
		own := rand.New(rand.NewPCG(stream, 2))
		go func() {
			errs <- calls.run(ctx, through, func() time.Duration { return time.Duration(own.IntN(20_000)) * time.Microsecond })
		}()
	}
	var ended time.Time
	go func() {
		rec, err := m.Agent.Wait(ctx, pending.Interaction.ID)
		ended = time.Now()
		if err == nil && (rec.State != bridge.StateCancelled || !rec.Response.Stop) {
			err = fmt.Errorf("the pending request is %s", rec.State)
		}
		errs <- err
	}()
	bridge.Pause(ctx, time.Duration(r.IntN(100_000))*time.Microsecond)
	clicked := time.Now()
	how := m.clickStop(r.IntN(4))
	calls.mu.Lock()
	calls.halted = time.Now()
	calls.mu.Unlock()
	for range cap(errs) {
		if err := <-errs; err != nil {
			return 0, fmt.Errorf("%s: %w", how, err)
		}
	}
	if calls.late > 0 {
		return 0, fmt.Errorf("%s: %d of %d calls ran after the stop", how, calls.late, calls.made)
	}
	return max(0, calls.last.Sub(clicked), ended.Sub(clicked)), nil
}

// clickStop stops the session as ana in one of several ways, and returns its name.
func (m *reported) clickStop(way int) string {
	m.T.Helper()
	at := m.asked.On(m.service)
	switch {
	case way == 0:
		m.Command("ana", m.service, at.Channel, "/nod stop "+m.session)
		if m.service == "telegram" { // a command is a message, and nod replies later
			m.Eventually("nod has read the command", func() bool {
				stop, err := m.Agent.Stopped(m.Ctx, m.session)
				return err == nil && stop != nil
			})
		}
		return "the command"
	case way == 1 && m.service == "slack":
		act := sandbox.Action{Service: "slack", As: "ana", Do: "stop", Channel: at.Channel, Message: at.Message}
		if reaction, err := m.Sandbox.Act(m.Ctx, act); err == nil && reaction.Warning == "" { // otherwise it waits for people
			return "Slack's own button"
		}
	}
	m.Press("ana", at, "Stop")
	return "the message"
}
