package broker

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// side is a broker on an embedded server whose clock does not move. It does
// nothing in the background.
type side struct {
	*Broker
	server *miniredis.Miniredis
	client *redis.Client
}

func newSide(t *testing.T, now time.Time) *side {
	t.Helper()
	server := miniredis.RunT(t)
	server.SetTime(now)
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	return &side{quiet(t, c), server, c}
}

// quiet returns a broker that does nothing in the background,
// because that would write at any time.
func quiet(t *testing.T, c *redis.Client) *Broker {
	t.Helper()
	b, err := New(t.Context(), Options{Client: c, Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); c.Close() })
	b.hub.cancel()
	b.hub.done.Wait()
	return b
}

// hostile makes openings with hostile values.
type hostile struct {
	t    *testing.T
	rand *rand.Rand
	now  time.Time
}

// hostileTexts are texts that patterns, separators and encoders may misread.
var hostileTexts = []string{
	"ci", "a|b", "%d%s%(", "x\ny", "\x1e\x1f\x00", "é\u2028", "\xff\xfe", `","digest":"z`, `","deadline":"z"`, "1|2|3", "-", ",", ":", "{0}", strings.Repeat("w", 300), " ",
}

func (h *hostile) text() string { return hostileTexts[h.rand.IntN(len(hostileTexts))] }

func (h *hostile) likely(n int) bool { return h.rand.IntN(10) < n }

// opening returns an opening with hostile values.
func (h *hostile) opening() bridge.Opening {
	id, err := bridge.NewID()
	if err != nil {
		h.t.Fatal(err)
	}
	input, _ := json.Marshal(map[string]any{h.text(): h.text(), "deadline": h.text(), "digest": h.text()})
	i := bridge.Interaction{
		ID: id, Agent: strings.ReplaceAll(h.text(), "\x00", ""), Digest: strings.Repeat("d", 64),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: h.text(), OnTimeout: bridge.OnTimeoutExpire, Route: "default",
			Approval: &bridge.Approval{Tool: h.text(), Input: input},
		},
		Schedule: bridge.Schedule{Created: h.now, Deadline: h.now.Add(time.Hour)},
	}
	for n := range []int{0, 1, 2, 3, 4, bridge.MaxDestinations}[h.rand.IntN(6)] {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: fmt.Sprint("C", n)})
	}
	for n := range []int{0, 0, 1, 3, 4, 8}[h.rand.IntN(6)] {
		i.Webhooks = append(i.Webhooks, fmt.Sprint("w", n))
	}
	o := bridge.Opening{Interaction: i, Limited: h.likely(3), FrontEnds: h.likely(3)}
	if h.likely(5) {
		o.Interaction.Session, o.Stoppable = h.text(), h.likely(5)
	}
	if h.likely(5) {
		o.Identity = bridge.CallID{Key: h.text()}.Identity(o.Interaction.Agent, "", fmt.Sprint("v:", h.rand.IntN(2)))
	}
	if h.likely(3) {
		o.Interaction.ToolCall = h.text()
	}
	if h.likely(3) {
		o.Interaction.Steps = []bridge.Step{{After: bridge.Duration(h.rand.IntN(3000)) * bridge.Duration(time.Millisecond), Remind: true}}
	}
	o.Timeout = bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	if h.likely(2) {
		o.Timeout.State, o.Interaction.Hold = bridge.StatePending, bridge.Duration(time.Hour)
	}
	if h.likely(2) {
		o.Timeout.Reason = h.text()
	}
	o.AfterHold = bridge.Response{State: bridge.StateExpired, Reason: h.text()}
	return o
}
