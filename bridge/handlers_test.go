package bridge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestRoundsEnd checks that a tool that rejects every answer gets an error at
// the limit of rounds.
func TestRoundsEnd(t *testing.T) {
	t.Parallel()
	reply := bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("no")}}
	asker, closeOffice := office(t.Context(), reply, reply, reply, reply)
	defer closeOffice()
	rounds := 0
	_, err := bridge.RequestInteraction(t.Context(), asker, bridge.Request{Ask: bridge.Ask{
		Prompt: "?", MaxRounds: 3, Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText}},
	}}, bridge.Handlers{OnResponse: func(context.Context, bridge.UserResponse) (bridge.Outcome, error) {
		rounds++
		return bridge.Reprompt{Request: bridge.Request{Ask: bridge.Ask{Error: "again"}}}, nil
	}})
	if rounds != 3 || bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

// TestSilenceIsAnEnd checks that a timeout without a handler is an EndedError
// and not a denial.
func TestSilenceIsAnEnd(t *testing.T) {
	t.Parallel()
	asker, closeOffice := office(t.Context())
	defer closeOffice()
	_, err := bridge.RequestInteraction(t.Context(), asker, bridge.Request{Ask: bridge.Ask{
		Prompt: "?", Timeout: bridge.Duration(bridge.MinTimeout), Approval: &bridge.Approval{},
	}},
		bridge.Handlers{OnResponse: func(context.Context, bridge.UserResponse) (bridge.Outcome, error) {
			t.Error("a timeout was passed to the handler as a response")
			return bridge.Complete{}, nil
		}})
	if ended, ok := errors.AsType[*bridge.EndedError](err); !ok || ended.Record.State != bridge.StateExpired || errors.Is(err, bridge.ErrInteractionUnavailable) {
		t.Errorf("%v", err)
	}
}
