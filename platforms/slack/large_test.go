package slack_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// answers is a sink that answers commands with a text.
type answers struct {
	*platformtest.Recorder
	text string
}

// Command implements bridge.Sink.
func (a answers) Command(context.Context, bridge.Command) (string, error) { return a.text, nil }

// TestLargeReplies checks that people see what nod replies although Slack drops an
// acknowledgment of 20 KiB: the next step of a form, and the list of a command.
func TestLargeReplies(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	long := strings.Repeat("echo one more line\n", 1200) + "echo the end"
	r := longer(long)
	at := s.Place(s.posts(r, ""))
	modal := s.opens("ana", r, at, bridge.DecideDenyReason)
	review := bridge.Form{View: s.view(r), Control: bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionRead}}
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictReview, Review: &review}, nil
	})
	got, err := s.Sandbox.Person("ana").Fill(t.Context(), "slack", modal, []string{"not today"})
	if err != nil || got.Warning != "" {
		t.Fatal(got, err)
	}
	s.Eventually("the next step is shown", func() bool {
		shown := ""
		for _, v := range s.Sandbox.Modals() {
			shown += sandbox.Texts(v.View)
		}
		return strings.Contains(shown, "echo the end")
	})
}

// TestIncompleteIsDisarmed checks that a message that Slack does not show whole, and
// does not let nod delete, offers nothing.
func TestIncompleteIsDisarmed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := approval(strings.Repeat("make deploy && ", 20) + "make done")
	for _, refusal := range []string{"cant_delete_message", "compliance_exports_prevent_deletion", "internal_error", "ratelimited"} {
		s.Fault(sandbox.Fault{Kind: "strip", Method: "chat.postMessage"})
		s.Fault(sandbox.Fault{Kind: "error", Method: "chat.delete", Error: refusal})
		if _, err := s.slack.Post(t.Context(), r.Interaction.Destinations[0], s.view(r), nil); bridge.ErrorCode(err) != bridge.CodeUnsupported {
			t.Errorf("%s: Post returns %v", refusal, err)
		}
		s.Sandbox.ClearFaults()
		all := s.Messages()
		if c := sandbox.Controls("slack", all[len(all)-1]); len(c) > 0 {
			t.Errorf("%s: the message offers %v", refusal, c)
		}
	}
}

// TestLongCommand checks that people see the reply to a command in full.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Rig.Run(answers{s.sink, strings.Repeat("デプロイの承認を待っています。\n", 400)})
	s.Connected()
	got, err := s.Sandbox.Person("ana").Command(t.Context(), "slack", sandbox.SlackChannel, "/nod pending")
	if err != nil || got.Warning != "" {
		t.Fatal(got, err)
	}
	s.Eventually("ana reads the list", func() bool { return strings.Contains(s.notes("ana"), "承認") })
}
