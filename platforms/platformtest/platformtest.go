// Package platformtest stands in for what lies around an adapter, for tests
// that feed it raw input.
package platformtest

import (
	"context"
	"errors"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// Nowhere is a client that reaches no service.
func Nowhere() *http.Client { return &http.Client{Transport: nowhere{}} }

type nowhere struct{}

// RoundTrip implements http.RoundTripper.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("nowhere") }

// Refusing is a sink that opens no form and finds every click invalid.
type Refusing struct{}

// Form implements bridge.Sink.
func (Refusing) Form(context.Context, bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: "no"}, nil
}

// Click implements bridge.Sink.
func (Refusing) Click(_ context.Context, c bridge.Click) (bridge.Verdict, error) {
	for n := range c.Inputs {
		if n < 0 || n >= bridge.MaxFields {
			return bridge.Verdict{}, errors.New("an input of no question")
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "no", Problems: map[int]string{0: "no", bridge.TypedProblem: "no"}}, nil
}

// Command implements bridge.Sink.
func (Refusing) Command(context.Context, bridge.Command) (string, error) { return "no", nil }
