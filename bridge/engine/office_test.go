package engine

import (
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// office is the parts of an engine on a fake store.
type office struct {
	*Engine
	t     *testing.T
	store *fake.Store
	chat  *fake.Chat
	keys  bridge.Keyring
}

// newOffice returns an office with one route, named default, to channel C of
// the platform chat; ana and bo may answer. Options change it.
func newOffice(t *testing.T, change ...func(*Options)) *office {
	t.Helper()
	keys, err := bridge.NewKeyring(make([]byte, bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	o := &office{t: t, store: fake.New(), chat: &fake.Chat{As: "chat"}, keys: keys}
	options := Options{
		Keys: keys, Platforms: []bridge.Platform{o.chat}, Node: "here",
		Routes: map[string]bridge.Route{bridge.DefaultRoute: {
			Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}},
			Responders:   []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}, {Person: "bo", Platform: "chat", User: "U-bo"}},
		}},
	}
	for _, f := range change {
		f(&options)
	}
	options.Store, options.DB = o.store, o.store.DB
	o.Engine = New(options)
	o.Use(Seams{
		Openers: []Opener{{Open: o.Openings.Ruled}, {Open: o.Openings.Reached}},
		Clicks: []Decider[Click]{
			{Decide: o.Clicks.Located}, {Decide: o.Clicks.MayAnswer}, {Decide: o.Clicks.Chosen}, {Decide: o.Clicks.ShowsAll}, {Decide: o.Clicks.CurrentTerms},
		},
	})
	return o
}

// outcomes checks the outcome of the jobs so far.
func (o *office) outcomes(want ...string) {
	o.t.Helper()
	if got := o.store.Outcomes(); !slices.Equal(got, want) {
		o.t.Errorf("the jobs ended as %q; want %q", got, want)
	}
}
