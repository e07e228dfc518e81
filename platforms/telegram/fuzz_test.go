package telegram

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest"
)

// prompted knows every prompt, with whatever note the fuzzer made up.
type prompted struct{ note string }

func (p prompted) PutNote(context.Context, string, string, time.Duration) (string, error) {
	return p.note, nil
}
func (p prompted) Note(context.Context, string) (string, error) { return p.note, nil }
func (p prompted) SetNote(context.Context, string, string, time.Duration) error {
	return nil
}
func (p prompted) DropNote(context.Context, string) error { return nil }

// FuzzUpdate checks that nod confirms every update, however malformed, so that
// Telegram does not repeat it forever.
func FuzzUpdate(f *testing.F) {
	message := func(more string) []byte {
		return []byte(`{"update_id":1,"message":{"message_id":2,"chat":{"id":-1},"from":{"id":7},` + more + `}}`)
	}
	f.Add([]byte(`{"update_id":1,"callback_query":{"id":"1","from":{"id":7},"data":"AQ",`+
		`"message":{"message_id":1,"chat":{"id":-1001}}}}`), `-5:7`)
	f.Add(message(`"text":"x","reply_to_message":{"message_id":1}`), `{"t":"x","u":"7","o":1}`)
	f.Add(message(`"text":"/nod@bot who"`), ``)
	f.Add(message(`"sticker":{},"sender_chat":{"id":1},"reply_to_message":{"message_id":1}`), `{"t":"x","o":0}`)
	f.Add(message(`"text":"x","reply_to_message":{"message_id":1,"ephemeral_message_id":3}`), `{"t":"x","u":"7","q":-1,"o":2}`)
	f.Add([]byte(`{"update_id":1,"callback_query":{"id":"1","from":{"id":7},"data":"AQ",`+
		`"message":{"message_id":0,"date":0,"ephemeral_message_id":3,"chat":{"id":-1001}}}}`), `{"u":"7","c":{"channel":"-1001","message":"p3"}}`)
	handle := func(t *testing.T, raw []byte, note string) {
		p, err := New(Options{Token: "1:x", HTTPClient: platformtest.Nowhere(), NoPacing: true, Notes: prompted{note}})
		if err != nil {
			t.Fatal(err)
		}
		p.receiver.commands.username = "bot" // so that nod does not ask for it first
		then, err := p.receiver.inbound.handle(context.Background(), platformtest.Refusing{}, p.receiver.inbound.read(raw))
		if err != nil {
			t.Errorf("asked for again: %v", err)
		}
		if then != nil {
			then(context.Background())
		}
		updateID(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte, note string) { // what fails is repeated, in fake time
		synctest.Test(t, func(t *testing.T) { handle(t, raw, note) })
	})
}
