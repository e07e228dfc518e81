package slack

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// nowhere refuses every connection.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("nowhere") }

// refusing answers every click with the same verdict.
type refusing struct{}

func (refusing) Form(context.Context, bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: "no"}, nil
}

func (refusing) Click(_ context.Context, c bridge.Click) (bridge.Verdict, error) {
	for n := range c.Inputs {
		if n < 0 || n >= bridge.MaxQuestions {
			return bridge.Verdict{}, errors.New("an input of no question")
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "no", Problems: map[int]string{0: "no", bridge.ReasonProblem: "no"}}, nil
}

func FuzzInteraction(f *testing.F) {
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"container":{"message_ts":"1","channel_id":"C"},"actions":[{"type":"button","value":"AQ"}],"state":{"values":{"q0-x":{"v":{"selected_option":{"value":"1"}}}}}}`))
	f.Add([]byte(`{"type":"view_submission","view":{"callback_id":"nod","private_metadata":"{\"t\":\"x\"}","state":{"values":{"reason":{"v":{"value":null}},"x1":{"v":{"value":"y"}}}}}}`))
	p, err := New(Options{BotToken: "x", AppToken: "y", HTTPClient: &http.Client{Transport: nowhere{}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) { p.handle(context.Background(), refusing{}, raw) })
}
