package discord

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

func (refusing) Click(context.Context, bridge.Click) (bridge.Verdict, error) {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "no"}, nil
}

func FuzzInteraction(f *testing.F) {
	f.Add([]byte(`{"id":"1","type":3,"token":"t","channel_id":"2","member":{"user":{"id":"3"}},"message":{"id":"4"},"data":{"custom_id":"AQ","values":["1"]}}`))
	f.Add([]byte(`{"id":"1","type":5,"user":{"id":"3"},"data":{"custom_id":"x","components":[{"type":18,"component":{"type":21,"custom_id":"q0.0","value":null}},{"component":{"custom_id":"reason","value":"r"}},null]}}`))
	p, err := New(Options{BotToken: "x", HTTPClient: &http.Client{Transport: nowhere{}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) { p.handle(context.Background(), refusing{}, raw) })
}
