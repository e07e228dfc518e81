package proof

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// readFixture decodes a file in testdata in which every field has a value.
func readFixture(t *testing.T, name string, v any) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(raw)
}

// TestRecordedDigests checks that requests have known digests, so that none
// changes unnoticed: they are stored with idempotency keys, records and receipts.
func TestRecordedDigests(t *testing.T) {
	t.Parallel()
	var r bridge.Request
	readFixture(t, "request.json", &r)
	for _, c := range []struct {
		what string
		make func() (string, error)
		want string
	}{
		{
			"a request as it was sent",
			func() (string, error) { return CallDigest(r.Ask, "") },
			"7f4cb12e9d43d7c8430fba518f1706c2178f93ea4dd11de58c635094bd3b3b2c",
		},
		{
			"a follow-up as it was sent",
			func() (string, error) { return CallDigest(r.Ask, "01a2004b-9f48-71c4-81b1-1b37eb744b0e") },
			"93ad17e6ab69b2a3f84676d9a9cd57631ac8310eddb66b3237baf123c9ddde2c",
		},
		{"a payload", func() (string, error) { return Digest(r.Ask) }, "c32fcee80af85ae06a35d8e16b5e916779da3e821aca08eab7f9ae7b5f6ef8ec"},
		{
			"a payload with another input",
			func() (string, error) { return Digest(r.WithInput(json.RawMessage(`{"a":2}`))) },
			"767c0ee18ff57b6924e0988edaa74c49b713b30b698c883812889a0262df69c8",
		},
	} {
		if got, err := c.make(); err != nil || got != c.want {
			t.Errorf("the digest of %s is %s (%v), want %s", c.what, got, err, c.want)
		}
	}
}

// TestRecordedInteraction checks that the stored bytes of an interaction are
// known, because its receipt covers them.
func TestRecordedInteraction(t *testing.T) {
	t.Parallel()
	var i bridge.Interaction
	raw := readFixture(t, "interaction.json", &i)
	got, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, raw) {
		t.Errorf("got\n%s\nwant\n%s", got, raw)
	}
	if got, want := contentOf(t, i), "ed8c60fcc00d78481f4f5d917d5103fc2663d12c144e8fe7ceea33e84fe27407"; got != want {
		t.Errorf("the content is the hash %s, want %s", got, want)
	}
}

// TestAgain checks that another round keeps all fields of the interaction's
// ask, with a timeout in place of the deadline.
func TestAgain(t *testing.T) {
	t.Parallel()
	var r bridge.Request
	readFixture(t, "request.json", &r)
	i := bridge.Interaction{Ask: r.Opened()}
	i.Route = "of the policy"
	i.OwnRoute, i.Deadline = r.Route, i.Created.Add(time.Duration(r.Timeout))
	want := r.Ask
	want.OneAtATime = false
	if got := i.Again(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
