package discord_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// withoutLimits returns a connected bot whose limits hold up nothing.
func withoutLimits(t *testing.T) (*platformtest.Rig, *platformtest.Recorder) {
	t.Helper()
	sink := &platformtest.Recorder{}
	return platformtest.New(t, harness, platformtest.Options{Sink: sink}).Connected(), sink
}

// request is a view of a pending request to run a command.
func request(r *platformtest.Rig, command string) bridge.View {
	input, _ := json.Marshal(map[string]string{"command": command}) // a string always marshals
	i := bridge.Interaction{
		ID: bridge.ID(uuid.NewString()), Agent: "tester", Digest: strings.Repeat("0123456789abcdef", 4),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?",
			Approval: &bridge.Approval{Tool: "bash", Input: input, Scopes: []bridge.Scope{bridge.ScopeOnce}},
		},
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "discord", Channel: sandbox.DiscordChannel}}},
		Schedule:  bridge.Schedule{Created: time.Now(), Deadline: time.Now().Add(time.Hour)},
	}
	return bridge.NewView(bridge.Record{State: bridge.StatePending, Interaction: i}, 0, nil, r.Keys.Sign)
}

// TestErrors checks that each documented error of each call is about what the
// table says, and stops nothing else.
func TestErrors(t *testing.T) {
	t.Parallel()
	r, sink := withoutLimits(t)
	d := bridge.Destination{Platform: "discord", Channel: sandbox.DiscordChannel}
	v := request(r, "make deploy")
	ref, err := r.Platform.Post(t.Context(), d, v, bridge.NewParts(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	clicked, err := r.Platform.Post(t.Context(), d, request(r, "make all"), bridge.NewParts(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	reopened := map[platforms.About]platforms.About{ // the thread stays closed
		platforms.AboutSetting: platforms.AboutClosed, platforms.AboutThread: platforms.AboutClosed,
	}
	r.Answers([]platformtest.Call{
		{Method: harness.Post, Make: func() error {
			_, err := r.Platform.Post(t.Context(), d, request(r, "ls"), bridge.NewParts(nil, nil))
			return err
		}},
		{Method: editCall, Other: reopened, Make: func() error { return r.Platform.Update(t.Context(), ref, v, nil) }},
		{Method: harness.Post, Make: func() error { return r.Platform.Tell(t.Context(), "300000000000000001", "hello") }},
		{
			Method: harness.Post, Other: map[platforms.About]platforms.About{ // the adapter does without the reference
				platforms.AboutContent: platforms.AboutNothing, platforms.AboutPermission: platforms.AboutNothing,
			},
			Make: func() error { return r.Platform.Remind(t.Context(), d, ref, bridge.Reminder{Text: "still waiting"}) },
		},
		{
			Method: "GET /guilds/{guild}/members/{user}", Other: map[platforms.About]platforms.About{platforms.AboutPerson: platforms.AboutNothing},
			Make: func() error {
				_, err := r.Platform.Belongs(t.Context(), harness.Group, "300000000000000001")
				return err
			},
		},
		{Method: callback, Silent: true, Make: func() error {
			before := len(sink.Clicks())
			go func() { _, _ = r.Sandbox.Person("ana").Press(t.Context(), r.Place(clicked), render.LabelRun) }()
			r.Eventually("the click arrives", func() bool { return len(sink.Clicks()) > before })
			return nil
		}},
		{Method: "GET /channels/{channel}", Silent: true, Make: func() error {
			r.Platform.Diagnose(t.Context(), bridge.Needs{Destinations: []bridge.Destination{d}})
			return nil
		}},
	})
	if _, err := r.Platform.Post(t.Context(), d, request(r, "ls"), nil); err != nil {
		t.Error(err)
	}
}

const callback = "POST /interactions/{id}/{token}/callback"

// TestCloudflare checks that an answer of the proxy in front of Discord holds up
// all calls for as long as it says, and that a click is answered in the meantime.
func TestCloudflare(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		fault sandbox.Fault
		wait  time.Duration
	}{
		"with a time":    {sandbox.Fault{Kind: "page", Status: http.StatusTooManyRequests, RetryAfter: 40}, 40 * time.Second},
		"without a time": {sandbox.Fault{Kind: "page", Status: http.StatusTooManyRequests}, 20 * time.Second},
	} {
		r, sink := withoutLimits(t)
		d := bridge.Destination{Platform: "discord", Channel: sandbox.DiscordChannel}
		ref, err := r.Platform.Post(t.Context(), d, request(r, "make"), bridge.NewParts(nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		x.fault.Method = harness.Post
		r.Fault(x.fault)
		_, err = r.Platform.Post(t.Context(), d, request(r, "ls"), bridge.NewParts(nil, nil))
		if bridge.PublicError(err).RetryAfter != x.wait || !errors.Is(err, platforms.ErrAllChannels) {
			t.Errorf("%s: %v", name, err)
		}
		r.Press("ana", r.Place(ref), render.LabelRun)
		r.Eventually("the click arrives", func() bool { return len(sink.Clicks()) > 0 })
	}
}

// TestRespondedElsewhere checks that a person reads what nod has to say, although
// another program responded to the click first, and that the health names it.
func TestRespondedElsewhere(t *testing.T) {
	t.Parallel()
	r, sink := withoutLimits(t)
	ref, err := r.Platform.Post(t.Context(), bridge.Destination{Platform: "discord", Channel: sandbox.DiscordChannel}, request(r, "make"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "you are not on the list"}, nil
	})
	r.Fault(sandbox.Fault{Kind: "rival", Count: 1})
	if _, err := r.Sandbox.Person("bo").Press(t.Context(), r.Place(ref), render.LabelRun); err != nil {
		t.Fatal(err)
	}
	r.Eventually("bo reads the note", func() bool {
		return strings.Contains(strings.Join(r.Sandbox.Person("bo").Notes("discord"), " "), "you are not on the list")
	})
	if h := r.Platform.Health(); h.State != bridge.HealthDegraded || !strings.Contains(h.Reason, "another program") {
		t.Errorf("health is %+v", h)
	}
}
