package broker_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// TestHosts checks that a report replaces the earlier one of its host, that old
// reports are dropped, and that their number is limited.
func TestHosts(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) { checkHosts(t, newBroker(t, c, "n")) })
}

func checkHosts(t *testing.T, b *broker.Broker) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	put := func(reporter, host, user string, at time.Time) error {
		return b.PutHost(t.Context(), bridge.HostCoverage{Reporter: reporter, Host: host, User: user, At: at, Agents: []bridge.AgentCoverage{}})
	}
	for _, err := range []error{
		put("ci", "a", "ana", now), put("ci", "a", "ana", now), put("ci", "a", "bo", now), put("other", "a", "ana", now),
		put("ci", "old", "", now.Add(-bridge.HostRetention-time.Minute)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := must[[]bridge.HostCoverage](t)(b.ListHosts(t.Context())); len(got) != 3 {
		t.Errorf("the reports are %+v", got)
	}
	for n := 3; n < bridge.MaxHosts; n++ {
		if err := put("ci", strconv.Itoa(n), "", now); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("ci", "more", "", now); bridge.ErrorCode(err) != bridge.CodeRateLimited {
		t.Errorf("with too many hosts: %v", err)
	}
	if err := put("ci", "a", "ana", now); err != nil {
		t.Errorf("a known host: %v", err)
	}
}
