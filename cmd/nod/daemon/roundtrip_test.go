package daemon_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestRoundTrip takes requests from the HTTP API to the card of each platform,
// and the responses back to the API. Package platformtest checks everything
// else that a platform must do.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	t.Run("connections", func(t *testing.T) {
		t.Parallel()
		r := rig.New(t, rig.Options{})
		for _, s := range rig.Services {
			roundTrip(r, s)
		}
	})
	t.Run("callbacks", func(t *testing.T) {
		t.Parallel()
		r := rig.New(t, rig.Options{HTTPMode: true})
		paths := map[string]string{
			"slack": "/slack/interactions", "discord": "/discord/interactions", "telegram": "/telegram/webhook",
		}
		for _, s := range rig.Services {
			if got := r.PostTo(paths[s], http.Header{}, "{}"); got != http.StatusUnauthorized {
				t.Errorf("an unsigned callback to %s: HTTP %d, want %d", paths[s], got, http.StatusUnauthorized)
			}
			channel := roundTrip(r, s)
			said := commanded(r, "ana", s, channel, "/nod who")
			r.Eventually("the command is answered on "+s, func() bool {
				return strings.Contains(said(), "You can answer requests here")
			})
		}
	})
}

// roundTrip sends an approval and a question, and responds to both on a
// platform. It returns the channel of the cards.
func roundTrip(r *rig.Rig, service string) string {
	r.T.Helper()
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	if !strings.Contains(a.Text(service), "make deploy") {
		r.T.Errorf("the card on %s does not show the command: %s", service, a.Text(service))
	}
	r.Press("ana", a.On(service), "Run command")
	got := a.End()
	if got.State != bridge.StateApproved || got.Response.Scope != bridge.ScopeOnce || got.Response.Digest != a.Interaction.Digest {
		r.T.Errorf("the response from %s is %s %+v, want an approval once", service, got.State, got.Response)
	}
	if by := got.Response.Actor; by.Person != "ana" || by.Platform != service {
		r.T.Errorf("the response is by %+v, want ana on %s", by, service)
	}
	a.Closed("ana", "in "+strings.ToUpper(service[:1])+service[1:])
	b := r.Ask(samples.One(bridge.WidgetText))
	r.Typed("bo", b.On(service), "Answer", "words")
	wantAnswer(b, bridge.TextAnswer("words"))
	b.Closed("bo", "in "+strings.ToUpper(service[:1])+service[1:])
	return a.On(service).Channel
}

// wantAnswer waits for the answer to the only question.
func wantAnswer(a rig.Asked, want bridge.Answer) {
	a.R.T.Helper()
	got := a.End()
	if got.State != bridge.StateAnswered || got.Response.Annotations == nil {
		a.R.T.Fatalf("the response is %s %+v, want an answer with annotations", got.State, got.Response)
	}
	if d := cmp.Diff(want, got.Response.Answers["q"]); d != "" {
		a.R.T.Errorf("answer (-want +got): %s", d)
	}
}

// holding returns a click that is prepared while the controls are shown.
func holding(r *rig.Rig, a rig.Asked, service, label, who string) sandbox.Action {
	at := a.On(service)
	act := sandbox.Action{Service: service, As: who, Do: "press", Channel: at.Channel, Message: at.Message}
	for _, c := range a.Controls(service) {
		if act.Control == "" && strings.Contains(c.Label, label) {
			act.Control = c.ID
		}
	}
	return act
}

// answerPrompt replies to the newest prompt for ana.
func answerPrompt(r *rig.Rig, a rig.Asked, text string) {
	r.T.Helper()
	r.Eventually("the prompt is posted", func() bool {
		_, err := r.Sandbox.Person("ana").Reply(r.Ctx, a.On("telegram").Channel, text)
		return err == nil
	})
}
