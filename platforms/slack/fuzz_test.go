package slack

import (
	"context"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest"
)

func FuzzInteraction(f *testing.F) {
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"container":{"message_ts":"1","channel_id":"C"},"actions":[{"type":"button","value":"AQ"}],"state":{"values":{"q0-x":{"v":{"selected_option":{"value":"1"}}}}}}`))
	f.Add([]byte(`{"type":"view_submission","view":{"callback_id":"nod","private_metadata":"{\"t\":\"x\"}","state":{"values":{"reason":{"v":{"value":null}},"x1":{"v":{"value":"y"}}}}}}`))
	f.Add([]byte(`{"command":"/nod","text":"who","user_id":"U1","channel_id":"D1"}`))
	f.Add([]byte(`{"type":"view_submission","view":{"callback_id":"nod","private_metadata":"{}","state":{"values":{"q1":{"v":{"selected_date":"2026-11-21"}},"q2":{"v":{"selected_time":null}},"q3":{"v":{"selected_date_time":1795267800}}}}}}`))
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"view":{"type":"home","state":{"values":{"q0-a-b":{"v":null}}}},"actions":[{"type":"overflow","block_id":"act-a-b","action_id":"more","selected_option":{"value":"AQ"}}]}`))
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"view":{"type":"home"},"actions":[{"type":"button","action_id":"revoke-0","value":"g"}]}`))
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"view":{"type":"home"},"actions":[null]}`))
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"actions":[{"type":"users_select","action_id":"delegate","selected_user":"U2"},{"type":"static_select","action_id":"delegate","selected_option":null}]}`))
	f.Add([]byte(`{"type":"event_callback","event":{"type":"app_home_opened","tab":"home","user":"U1"}}`))
	f.Add([]byte(`{"type":"event_callback","event":{"type":"message","user":"U1","channel":"C","text":"<","ts":"2.","thread_ts":"1","parent_user_id":""}}`))
	f.Add([]byte(`{"type":"view_submission","view":{"callback_id":"nod","private_metadata":"{\"t\":\"x\",\"a\":\"y\"}","state":{"values":{"always":{"v":{"selected_options":[{"value":"1"}]}}}}}}`))
	p, err := New(Options{BotToken: "x", AppToken: "y", HTTPClient: platformtest.Nowhere()})
	if err != nil {
		f.Fatal(err)
	}
	in := p.inbound(platformtest.Refusing{})
	f.Fuzz(func(_ *testing.T, raw []byte) { in.handle(context.Background(), in.read(raw)) })
}
