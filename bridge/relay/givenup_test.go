package relay_test

import (
	"strings"
	"testing"
)

// TestFormGivenUp checks that a form closes with what it belongs to, that its
// server hears of it, and that other forms wait on.
func TestFormGivenUp(t *testing.T) {
	t.Parallel()
	const (
		cancelCall = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`
		cancelTask = `{"jsonrpc":"2.0","id":6,"method":"tasks/cancel","params":{"taskId":"one"}}`
	)
	ofTask := strings.Replace(wrapForm, `"message"`, `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},"message"`, 1)
	for name, c := range map[string]struct {
		form, other, end string
		why              string // "" if it waits on
	}{
		"the only call":      {wrapForm, "", cancelCall, "the client cancelled the call"},
		"one of two calls":   {wrapForm, getTool, cancelCall, ""},
		"a form of a task":   {ofTask, "", cancelCall, ""},
		"its task":           {ofTask, getTool, cancelTask, "the client cancelled the task"},
		"another task":       {ofTask, "", strings.Replace(cancelTask, `"one"`, `"two"`, 1), ""},
		"a form of no task":  {wrapForm, "", cancelTask, ""},
		"a request for else": {wrapForm, "", strings.Replace(cancelCall, `:2`, `:1`, 1), ""},
		"the client closed":  {wrapForm, getTool, "", "the client was closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serverEnds(t, `{"capabilities":{"elicitation":{}}}`)
			e.say(e.client, getTool)
			e.gets(e.atAgent, "get_x")
			if c.other != "" {
				e.say(e.client, strings.Replace(c.other, `"id":2`, `"id":3`, 1))
				e.gets(e.atAgent, "get_x")
			}
			e.say(e.agent, c.form)
			<-e.asked
			if c.end == "" {
				e.client.Close()
			} else {
				e.say(e.client, c.end)
			}
			const cancellation = `"method":`
			switch {
			case c.why == "":
				e.gets(e.atAgent, cancellation)
				e.answer <- `{"action":"accept","content":{"a":"x"}}`
				e.gets(e.atAgent, `"id":9,"result":{"action":"accept"`)
				return
			case c.end != "":
				heard := e.hear(e.atAgent) + e.hear(e.atAgent) // in either order
				for _, want := range []string{cancellation, `"id":9,"error":{"code":-32603,"message":"nod: no person has answered the form: ` + c.why} {
					if !strings.Contains(heard, want) {
						t.Errorf("got %s, want %s", heard, want)
					}
				}
			}
			if got := <-e.ended; got != c.why {
				t.Errorf("the card says %q", got)
			}
			if c.end != "" { // the server cancels what it has heard of already
				e.say(e.agent, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
				e.say(e.agent, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
				e.gets(e.atClient, "notifications/message")
			}
		})
	}
}
