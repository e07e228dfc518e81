package relay_test

import "testing"

// TestTaskCancelled checks that an update of a task that waits for a decision
// ends with the task, whatever people answer, and that other updates wait on.
func TestTaskCancelled(t *testing.T) {
	t.Parallel()
	const (
		update = `{"jsonrpc":"2.0","id":1234567890123456789,"method":"tasks/update","params":{"taskId":"one","inputResponses":{"a":{"action":"accept"}}}}`
		other  = `{"jsonrpc":"2.0","id":5,"method":"tasks/update","params":{"taskId":"two","inputResponses":{"a":{"action":"accept"}}}}`
		cancel = `{"jsonrpc":"2.0","id":6,"method":"tasks/cancel","params":{"taskId":"one"}}`
	)
	e := serverEnds(t, `{}`)
	e.say(e.client, update)
	<-e.asked
	e.say(e.client, other)
	<-e.asked
	e.say(e.client, cancel)
	if got := <-e.ended; got != "the client cancelled the task" {
		t.Errorf("the card says %q", got)
	}
	e.gets(e.atClient, `"id":1234567890123456789,"result":{"content":[{"text":"The client has cancelled the task."`)
	e.gets(e.atAgent, `"tasks/cancel"`)
	e.answer <- "{}"
	e.gets(e.atAgent, `"taskId":"two"`)
	e.say(e.client, update) // the ID is free again
	<-e.asked
	e.answer <- "{}"
	e.gets(e.atAgent, `"taskId":"one"`)
}
