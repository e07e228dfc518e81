package daemon_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// balancer is one address for several daemons, as a service of Kubernetes is:
// each connection goes to one that takes it.
type balancer struct {
	net.Listener
	mu   sync.Mutex
	to   []string
	next int
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{Listener: rig.Listen(t)}
	go func() {
		for {
			in, err := b.Accept()
			if err != nil {
				return
			}
			go b.forward(in)
		}
	}()
	t.Cleanup(func() { b.Close() })
	return b
}

func (b *balancer) set(to ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = to
}

func (b *balancer) forward(in net.Conn) {
	defer in.Close()
	b.mu.Lock()
	b.next++
	first, to := b.next, b.to
	b.mu.Unlock()
	for n := range to {
		out, err := net.Dial("tcp", to[(first+n)%len(to)])
		if err != nil {
			continue
		}
		go func() { _, _ = io.Copy(out, in); out.Close() }()
		_, _ = io.Copy(in, out)
		return
	}
}

// handedOver tells when a caller that waits at a daemon is let go.
func handedOver(r *rig.Rig, d *rig.Running) <-chan time.Time {
	r.T.Helper()
	rec, err := rig.NewClient(d.URL, rig.TestAgentToken).Open(r.Ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Waits on", Approval: &bridge.Approval{Tool: "upgrade"},
	}}, "")
	if err != nil {
		r.T.Fatal(err)
	}
	sent := make(chan struct{})
	wrote := sync.OnceFunc(func() { close(sent) })
	ctx := httptrace.WithClientTrace(r.Ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+"/v1/interactions/"+string(rec.Interaction.ID)+"?wait=25s", nil)
	if err != nil {
		r.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+rig.TestAgentToken)
	at := make(chan time.Time, 1)
	go func() {
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
		at <- time.Now()
	}()
	await.Receive(r.T, "the call of the one that waits", sent)
	return at
}

// TestReplaceDaemons replaces two daemons one after the other while agents ask and
// people answer. No one gets an error, a waiting caller is handed over within a
// second, and every request ends as its person decided.
func TestReplaceDaemons(t *testing.T) {
	level.CI(t)
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2})
	b := newBalancer(t)
	addr := func(d *rig.Running) string { return d.URL[len("http://"):] }
	b.set(addr(r.Daemons[0]), addr(r.Daemons[1]))
	url := "http://" + b.Addr().String()
	agent, person := rig.NewClient(url, rig.TestAgentToken), rig.NewClient(url, rig.AnaToken)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	var answered atomic.Int32
	for n := range 6 {
		wg.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				if err := answeredOnce(r, agent, person, fmt.Sprintf("%d.%d", n, k)); err != nil {
					t.Error(err)
					return
				}
				answered.Add(1)
			}
		})
	}
	some := func() {
		t.Helper()
		enough := answered.Load() + 10
		r.Eventually("agents get answers", func() bool { return answered.Load() >= enough })
	}
	old := r.Daemons
	alive := []*rig.Running{old[0], old[1]}
	for n := range old {
		some()
		fresh := r.Start(rig.Listen(t))
		alive[n] = fresh
		b.set(addr(alive[0]), addr(alive[1]))
		handed := handedOver(r, old[n])
		began := time.Now()
		old[n].Stop()
		if took := time.Since(began); took > await.Limit {
			t.Errorf("a daemon took %s to stop", took)
		}
		if took := (<-handed).Sub(began); took > await.Limit/2 {
			t.Errorf("a caller was kept for %s", took)
		}
	}
	r.Daemons = alive
	r.Connected()
	some()
	cancel()
	wg.Wait()
	t.Logf("%d answered", answered.Load())
}

// answeredOnce sends a request that a person approves while the agent waits.
func answeredOnce(r *rig.Rig, agent, person *client.Client, name string) error {
	rec, err := agent.Open(r.Ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Upgrade " + name, Approval: &bridge.Approval{Tool: "upgrade"},
	}}, "key-"+name)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	wait := make(chan error, 1)
	go func() {
		final, err := agent.Wait(r.Ctx, rec.Interaction.ID)
		if err == nil && final.State != bridge.StateApproved {
			err = fmt.Errorf("the state is %s, want %s", final.State, bridge.StateApproved)
		}
		wait <- err
	}()
	for {
		_, err := person.Respond(r.Ctx, rec.Interaction.ID, rig.AnswerOnce)
		if err == nil || bridge.ErrorCode(err) == bridge.CodeConflict {
			break
		}
		if bridge.ErrorCode(err) != bridge.CodeUnavailable { // people click again
			return fmt.Errorf("respond: %w", err)
		}
		bridge.Pause(r.Ctx, 10*time.Millisecond)
	}
	if err := <-wait; err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	return nil
}
