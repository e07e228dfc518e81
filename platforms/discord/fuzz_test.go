package discord

import (
	"context"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest"
)

func FuzzInteraction(f *testing.F) {
	f.Add([]byte(`{"id":"1","type":3,"token":"t","channel_id":"2","member":{"user":{"id":"3"}},"message":{"id":"4"},` +
		`"data":{"custom_id":"AQ","values":["1"]}}`))
	f.Add([]byte(`{"id":"1","type":5,"user":{"id":"3"},"data":{"custom_id":"x","components":[` +
		`{"type":18,"component":{"type":21,"custom_id":"q0.0","value":null}},` +
		`{"component":{"custom_id":"reason","value":"r"}},null]}}`))
	f.Add([]byte(`{"id":"1","type":2,"token":"t","channel_id":"2","member":{"user":{"id":"3"}},` +
		`"data":{"name":"nod","options":[{"name":"who"}]}}`))
	f.Add([]byte(`{"id":"1","type":3,"token":"t","channel_id":"2","user":{"id":"3"},"message":{"id":"4","flags":64},` +
		`"data":{"custom_id":"page grants -9","values":null}}`))
	f.Add([]byte(`{"id":"1","type":3,"channel_id":"2","message":{"id":"4"},"data":{"custom_id":"delegate","values":["AQ"]}}`))
	f.Add([]byte(`{"id":"1","type":4,"token":"t","channel_id":"2","member":{"user":{"id":"3"}},` +
		`"data":{"name":"nod","options":[{"name":"show","options":[{"name":"id","value":"","focused":true}]}]}}`))
	f.Add([]byte(`{"id":"1","type":5,"user":{"id":"3"},"message":{"id":"4","flags":64},"data":{"custom_id":"AQ","components":[]}}`))
	p, err := New(Options{BotToken: "x", HTTPClient: platformtest.Nowhere()})
	if err != nil {
		f.Fatal(err)
	}
	in := p.inbound(platformtest.Refusing{})
	f.Fuzz(func(_ *testing.T, raw []byte) { in.handle(context.Background(), raw) })
}
