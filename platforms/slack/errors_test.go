package slack_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestErrors checks that each documented error of each call is about what the
// table says, and stops nothing else.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := approval("make deploy")
	ref := s.posts(r, "")
	d := r.Interaction.Destinations[0]
	open := longer("make all")
	at := s.Place(s.posts(open, ""))
	post := func() error {
		_, err := s.slack.Post(t.Context(), d, s.view(approval("ls")), nil)
		return err
	}
	s.Answers([]platformtest.Call{
		{Method: "chat.postMessage", Make: post},
		{Method: "chat.postMessage", Make: func() error { return s.slack.Tell(t.Context(), "U0ANA00001", "hello") }},
		{Method: "chat.postMessage", Make: func() error {
			_, err := s.slack.NoteSteering(t.Context(), ref, nil, "sent")
			return err
		}},
		{Method: "chat.update", Make: func() error { return s.slack.Update(t.Context(), ref, s.view(r), nil) }},
		{Method: "chat.postEphemeral", Make: func() error { return s.slack.Notify(t.Context(), ref, "U0ANA00001", "no") }},
		{Method: "users.info", Make: func() error {
			_, _, err := s.slack.Email(t.Context(), "U0ANA00001")
			return err
		}},
		{Method: "usergroups.users.list", Make: func() error {
			_, err := s.slack.Belongs(t.Context(), sandbox.SlackUserGroup, "U0ANA00001")
			return err
		}},
		{Method: "views.open", Silent: true, Make: func() error {
			s.sink.Shows(bridge.Form{View: s.view(open), Control: bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionReason}}, nil)
			_, err := s.Sandbox.Person("ana").Press(t.Context(), at, render.LabelDenyReason)
			return err
		}},
		{Method: "views.publish", Silent: true, Make: func() error {
			_, err := s.Sandbox.Act(t.Context(), sandbox.Action{Service: "slack", As: "ana", Do: "home"})
			return err
		}},
		{Method: "conversations.info", Silent: true, Make: func() error {
			s.slack.Diagnose(t.Context(), bridge.Needs{Destinations: []bridge.Destination{d}})
			return nil
		}},
	})
	if err := post(); err != nil {
		t.Error(err)
	}
}
