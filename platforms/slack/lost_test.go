package slack_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestLostCardIsFound checks that a card whose answer was lost is not posted
// again, and that it shows the current state of its request.
func TestLostCardIsFound(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]struct {
		channel  string
		threaded bool
	}{
		"channel": {channel: sandbox.SlackChannel}, "thread": {sandbox.SlackChannel, true}, "person": {channel: "U0ANA00001"},
		"direct message": {channel: "D0ANA00001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			d := bridge.Destination{Platform: "slack", Channel: where.channel}
			root := s.post(d, approval("make build"))
			if where.threaded {
				d.Thread = root.Message
			}
			r := approval("make deploy")
			s.Fault(sandbox.Fault{Method: "chat.postMessage", Kind: "drop_after", Count: 1})
			if _, err := s.slack.Post(t.Context(), d, s.view(r), nil); bridge.ErrorCode(err) != bridge.CodeUnavailable {
				t.Fatalf("the first post returned %v, want %s", err, bridge.CodeUnavailable)
			}
			ref := s.post(d, approved(r))
			in := s.Hands.Messages("slack", root.Channel)
			if len(in) != 2 || ref.Message != in[len(in)-1]["ts"] || ref.Channel != root.Channel || ref.Thread != d.Thread {
				t.Errorf("the card is %+v in a channel with %d messages, want the last of 2", ref, len(in))
			}
			if len(s.Controls(s.Place(ref))) != 0 {
				t.Error("the card of an approved request still has controls")
			}
			s.post(d, approval("make deploy"))
			if n := len(s.Hands.Messages("slack", root.Channel)); n != 3 {
				t.Errorf("after an identical request, the channel has %d messages, want 3", n)
			}
		})
	}
}

// TestLostCardCloses checks that both cards of one request close, although nod
// knows only one of them: the answer to the post of the other was lost, and the
// app may not read the channel.
func TestLostCardCloses(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := approval("make deploy")
	s.Fault(sandbox.Fault{Method: "chat.postMessage", Kind: "drop_after", Count: 1})
	s.Fault(sandbox.Fault{Method: "conversations.history", Kind: "error", Status: http.StatusForbidden})
	if _, err := s.slack.Post(t.Context(), r.Interaction.Destinations[0], s.view(r), nil); err == nil {
		t.Fatal("the answer was not lost")
	}
	ref := s.posts(r, "")
	stray := s.Place(ref)
	stray.Message = s.Messages()[0]["ts"].(string)
	if stray.Message == ref.Message {
		t.Fatal("there is one card")
	}
	r.Messages = map[int]bridge.MessageRef{0: ref}
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		v := s.view(approved(r))
		return bridge.Verdict{Kind: bridge.VerdictSettled, Note: "Recorded", View: &v}, nil
	})
	if _, err := s.Sandbox.Person("ana").Press(t.Context(), stray, render.LabelRun); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the clicked card closes", func() bool { return len(s.Controls(stray)) == 0 })
	if len(s.Controls(s.Place(ref))) == 0 {
		t.Error("the card on record was drawn as well; that is the task of the outbox")
	}
}

// TestTooLittleTime checks that nod leaves a card to a later attempt if the answer
// to its post could come too late.
func TestTooLittleTime(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := approval("make deploy")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	ref, err := s.slack.Post(ctx, r.Interaction.Destinations[0], s.view(r), nil)
	if bridge.ErrorCode(err) != bridge.CodeUnavailable || ref != (bridge.MessageRef{}) || len(s.Messages()) != 0 {
		t.Errorf("the card is %+v of %d messages, %v", ref, len(s.Messages()), err)
	}
}

// foreign is a transport that adds a message of another app to the history of
// each channel. The message has the metadata of the latest post.
type foreign struct{ metadata string }

// RoundTrip implements http.RoundTripper.
func (f *foreign) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "chat.postMessage") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, err
		}
		f.metadata, r.Body = form.Get("metadata"), io.NopCloser(strings.NewReader(string(body)))
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "conversations.history") {
		answer.Body.Close()
		answer.Body = io.NopCloser(strings.NewReader(`{"ok":true,"messages":[{"ts":"1.000001","metadata":` + f.metadata + `}]}`))
	}
	return answer, err
}

// TestForeignMark checks that nod posts a card, although a message that it
// cannot update has the metadata of the card.
func TestForeignMark(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.through(&foreign{})
	r := approval("make deploy")
	s.Fault(sandbox.Fault{Method: "chat.postMessage", Kind: "drop_after", Count: 1})
	if _, err := s.slack.Post(t.Context(), r.Interaction.Destinations[0], s.view(r), nil); err == nil {
		t.Fatal("the answer was not lost")
	}
	if ref := s.posts(r, ""); len(s.Controls(s.Place(ref))) == 0 {
		t.Errorf("the card %+v has no controls", ref)
	}
}
