package daemon_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// hearing is a sink that counts the clicks of a platform.
type hearing struct{ clicks atomic.Int32 }

func (h *hearing) Form(context.Context, bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown}, nil
}

func (h *hearing) Command(context.Context, bridge.Command) (string, error) { return "", nil }

func (h *hearing) Click(context.Context, bridge.Click) (bridge.Verdict, error) {
	h.clicks.Add(1)
	return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: "heard"}, nil
}

// TestDeafGatewayIsReplaced checks that nod replaces a stalled gateway
// connection. The SDK alone would wait for minutes.
func TestDeafGatewayIsReplaced(t *testing.T) {
	t.Parallel()
	// The SDK itself closes a connection after five unanswered heartbeats. Both
	// limits are long, so that a busy machine does not look like a stalled
	// gateway.
	s := sandbox.New(sandbox.Options{NoLimits: true, Heartbeat: time.Second})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	p, err := discord.New(discord.Options{Name: "discord", BotToken: sandbox.DiscordToken, APIURL: server.URL + "/discord", NoPacing: true, DeafAfter: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h := &hearing{}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, h) }()
	r := &rig.Rig{T: t, Ctx: ctx, Sandbox: s}
	up := func() bool { return p.Health().State == bridge.HealthUp }
	r.Eventually("it is connected", up)
	since := p.Health().Since
	s.AddFault(sandbox.Fault{Service: "discord", Kind: "freeze"})
	r.Eventually("the stalled connection is found", func() bool { return !up() })
	s.ClearFaults()
	r.Eventually("it is connected again", up)
	if !p.Health().Since.After(since) {
		t.Error("the health does not have the time of the failure")
	}
	key, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	i := bridge.Interaction{
		Ask:      bridge.Ask{Kind: bridge.KindApproval, Prompt: "x", Approval: &bridge.Approval{}},
		Agent:    "a",
		Schedule: bridge.Schedule{Deadline: time.Now().Add(time.Minute)},
	}
	ref, err := p.Post(ctx, bridge.Destination{Channel: sandbox.DiscordChannel}, bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, key.Sign), nil)
	if err != nil {
		t.Fatal(err)
	}
	reaction, err := s.Person("ana").Press(ctx, sandbox.Place{Service: "discord", Channel: ref.Channel, Message: ref.Message}, "Deny")
	rig.Must(t, reaction, err)
	if h.clicks.Load() != 1 {
		t.Errorf("%d clicks arrived", h.clicks.Load())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
