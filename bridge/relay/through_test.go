package relay_test

import (
	"strings"
	"testing"
)

// TestIDsPass checks that each ID comes back as it was sent, also from a server
// that reads numbers as doubles.
func TestIDsPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sent, echoed string }{
		{`3`, `3`}, {`"a"`, `"a"`}, {`1.5`, `1.5`}, {`4.0`, `4`}, {`1234567890123456`, `1234567890123456`}, {`-9007199254740993`, `-9007199254740992`},
		{`18446744073709551615`, `18446744073709552000`}, {`"\u0061"`, `"a"`}, {`1e3`, `1000`}, {`0`, `-0`},
	} {
		t.Run(c.sent, func(t *testing.T) {
			t.Parallel()
			e := serverEnds(t, `{}`)
			e.say(e.client, strings.Replace(getTool, `"id":2`, `"id":`+c.sent, 1))
			if c.sent != `"\u0061"` {
				e.gets(e.atAgent, `"id":`+c.sent)
			} else {
				e.gets(e.atAgent, `"id":"a"`)
			}
			e.say(e.agent, `{"jsonrpc":"2.0","id":`+c.echoed+`,"result":{"content":[]}}`)
			want := c.sent
			if want == `"\u0061"` {
				want = `"a"`
			}
			e.gets(e.atClient, `"id":`+want+`,"result"`)
		})
	}
}

// TestProgressOfWrap checks that a client hears that its call waits for people,
// at each state of the call, and nothing after the result.
func TestProgressOfWrap(t *testing.T) {
	t.Parallel()
	const heard = `"method":"notifications/progress","params":{"progressToken":"p-1","progress":0.00000`
	e := serverEnds(t, `{}`)
	e.say(e.client, strings.Replace(plainCall, `"params":{`, `"params":{"_meta":{"progressToken":"p-1"},`, 1))
	<-e.asked
	e.gets(e.atClient, heard+"1")
	e.answer <- "approved"
	e.gets(e.atAgent, `"progressToken":"p-1"`)
	e.say(e.agent, wrapForm) // while the call runs
	<-e.asked
	e.gets(e.atClient, heard+"2")
	e.answer <- `{"action":"accept","content":{"a":"x"}}`
	e.gets(e.atAgent, `"action":"accept"`)
	e.say(e.agent, `{"jsonrpc":"2.0","id":7,"result":`+needs+`}`)
	<-e.asked
	e.gets(e.atClient, heard+"3")
}

// TestLongResult checks that a large result passes, and that one over the limit
// is an error for the call.
func TestLongResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size       int
		head, tail string
		want       string
	}{
		"large":                     {40 << 20, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"`, `"}]}}`, `"result"`},
		"too large":                 {129 << 20, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"`, `"}]}}`, `"error":{"code":-32600,"message":"nod: message: longer than 128 MiB"`},
		"too large, the ID is last": {129 << 20, `{"result":{"content":[{"type":"text","text":"`, `"}]},"id":2,"jsonrpc":"2.0"}`, `"error":{"code":-32600`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.size > 100<<20 && testing.Short() {
				t.Skip("large")
			}
			e := serverEnds(t, `{}`)
			e.atClient.Buffer(nil, 64<<20)
			e.say(e.client, getTool)
			e.gets(e.atAgent, "get_x")
			e.say(e.agent, c.head+strings.Repeat("x", c.size)+c.tail)
			if got := e.hear(e.atClient); !strings.Contains(got[:min(len(got), 300)], c.want) || c.want == `"result"` && len(got) < c.size {
				t.Errorf("the client gets %d bytes: %.300s", len(got), got)
			}
		})
	}
}
