package telegram

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// nowhere refuses every connection.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("nowhere") }

// prompted knows every prompt, with whatever note the fuzzer made up.
type prompted struct{ note string }

func (p prompted) PutNote(context.Context, string, string, time.Duration) (string, error) {
	return p.note, nil
}
func (p prompted) Note(context.Context, string) (string, error) { return p.note, nil }
func (p prompted) DropNote(context.Context, string) error       { return nil }

// refusing answers every click with the same verdict.
type refusing struct{}

func (refusing) Form(context.Context, bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: "no"}, nil
}

func (refusing) Click(context.Context, bridge.Click) (bridge.Verdict, error) {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "no"}, nil
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte(`{"update_id":1,"callback_query":{"id":"1","from":{"id":7},"data":"AQ","message":{"message_id":1,"chat":{"id":-1}}}}`), `{}`)
	f.Add([]byte(`{"update_id":1,"message":{"message_id":2,"chat":{"id":-1},"from":{"id":7},"text":"x","reply_to_message":{"message_id":1}}}`), `{"t":"x","u":"7","o":1}`)
	f.Fuzz(func(t *testing.T, raw []byte, note string) {
		p, err := New(Options{Token: "1:x", HTTPClient: &http.Client{Transport: nowhere{}}, NoPacing: true, Notes: prompted{note}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.handle(context.Background(), refusing{}, raw); err != nil {
			t.Errorf("asked for again: %v", err)
		}
		updateID(raw)
	})
}
