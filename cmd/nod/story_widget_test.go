package main

import (
	"fmt"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// widgetStory is the story of an agent whose requests two pages of a session
// show.
type widgetStory struct {
	*story
	agent, one, two *party
}

func newWidgetStory(t *testing.T, name, frames string) widgetStory {
	t.Helper()
	x := widgetStory{story: newStory(t, name)}
	x.agent = x.joins("agent", rig.TestAgentToken, "")
	hello := `{"type":"hello","sessionId":"chat-1","frames":"` + frames + `","interaction":{"supported":true,"enabled":true}}`
	x.one, x.two = x.joins("page of ana", rig.AnaToken, hello), x.joins("page of bo", rig.BoToken, hello)
	return x
}

// both waits for a frame at both pages.
func (x widgetStory) both(words ...string) {
	x.T.Helper()
	x.one.sees(words...)
	x.two.sees(words...)
}

// TestStoryAskWidget tells the story of the document about the ask widget and
// the approval modal: the flow of an ask, the reload of a page, the flow of an
// approval, and several pending requests.
func TestStoryAskWidget(t *testing.T) {
	t.Parallel()
	x := newWidgetStory(t, "ask_widget", "ask")
	x.step("The agent asks: every page and every chat shows the widget")
	ask := `{"type":"ask_request","id":"req-1","sessionId":"chat-1","payload":{"prompt":"Which option do you prefer?","widgets":[{"type":"buttons","label":"Choose one:","options":["Option A","Option B"]}]}}`
	x.agent.says(ask)
	a := pendingWith(x.Crash, "Which option")
	x.both(`"ask_request"`, `"req-1"`)
	x.shows(a, false, "Which option do you prefer?")

	x.step("The daemon is killed. The pages show the widget again, and the agent asks with the same ID")
	x.restarts()
	x.both(`"ask_request"`, `"req-1"`)
	x.agent.says(ask)

	x.step("A page answers under the agent's ID; the second response has no effect")
	x.one.says(`{"type":"ask_response","id":"a","payload":{"request_id":"req-1","value":"Option B"}}`)
	x.agent.sees(`"ask_response"`)
	x.both(`"ask_response"`, `"askResponse":"Option B"`)
	x.two.says(`{"type":"ask_response","id":"b","payload":{"request_id":"req-1","value":"Option A"}}`)
	x.two.sees(`"error"`)
	x.shows(a, true, "Option B", "was told")

	x.step("A page reloads: the content block has the answer")
	x.one.leaves()
	x.one.connects()
	x.one.sees(`"ask_request"`, `"askResponse":"Option B"`)
	x.one.sees(`"ask_response"`)

	x.step("A tool needs approval, and someone answers in a chat; the agent remembers the approval")
	approval := `{"type":"approval_request","id":"%s","sessionId":"chat-1","payload":{"tool":"bash","input":{"command":"git push origin main"}}}`
	x.agent.says(fmt.Sprintf(approval, "req-2"))
	b := pendingWith(x.Crash, "bash")
	x.both(`"approval_request"`)
	x.shows(b, false, "git push origin main")
	x.does("bo", "telegram", "clicks Always approve", func() { x.Decide("bo", b.On("telegram"), "Always approve") })
	x.agent.sees(`"approval_response"`, `"always":true`)
	x.both(`"approval_response"`)
	x.shows(b, true, "git push origin main", "was told")

	x.step("The agent asks again, next to another request: nod has stored no grant")
	x.agent.says(fmt.Sprintf(approval, "req-3"))
	c := pendingWith(x.Crash, "bash")
	x.both(`"approval_request"`, `"req-3"`)
	x.agent.says(`{"type":"ask_request","id":"req-4","sessionId":"chat-1","payload":{"prompt":"Should I proceed with the deployment?"}}`)
	d := pendingWith(x.Crash, "Should I proceed")
	x.both(`"ask_request"`, `"req-4"`)
	x.two.says(`{"type":"ask_response","id":"c","payload":{"request_id":"req-4","value":"Yes"}}`)
	x.agent.sees(`"req-4"`)
	x.both(`"ask_response"`)
	x.shows(d, true, "was told")
	x.one.says(`{"type":"approval_response","id":"d","payload":{"request_id":"req-3","approved":false}}`)
	x.agent.sees(`"req-3"`, `"approved":false`)
	x.both(`"approval_response"`)
	x.shows(c, true, "git push origin main", "was told")
	x.ends()
}

// TestStoryWidgets tells the story of the document about embedded widgets: a
// text with two blocks, their submissions, and the reload of a page.
func TestStoryWidgets(t *testing.T) {
	t.Parallel()
	x := newWidgetStory(t, "widgets", "widget")
	x.step("A text of the assistant contains two widgets, which appear in their order")
	text := assistantText(t, "m1", "chat-1",
		`{"widgetId":"w1","type":"form","message":"Who comes?","submitted":false,"schema":{"type":"object","title":"Guests","description":"For the list","required":["name","age"],"properties":{"name":{"type":"string","title":"Full name"},"age":{"type":"integer","minimum":18}}}}`,
		`{"widgetId":"w2","type":"plan_review","message":"Review the plan","submitted":false,"planContent":"1. one\n2. two"}`)
	x.agent.says(text)
	form, plan := pendingWith(x.Crash, "Who comes?"), pendingWith(x.Crash, "Review the plan")
	x.both(`"w1"`)
	x.both(`"w2"`)
	x.shows(form, false, "Guests", "For the list")
	x.shows(plan, false, "Review the plan")

	x.step("The daemon is killed. The pages show the widgets again, and the agent sends the text again")
	x.restarts()
	x.both(`"w1"`)
	x.both(`"w2"`)
	x.agent.says(text)

	x.step("A page submits the form: every mistake is named, and then the agent gets the values")
	x.one.says(`{"type":"widget:submit","id":"a","payload":{"widgetId":"w1","value":{"age":17}}}`)
	x.one.sees(`"error"`, "value.name", "value.age")
	x.one.says(`{"type":"widget:submit","id":"b","payload":{"widgetId":"w1","value":{"name":"Ana","age":30}}}`)
	x.agent.sees(`WIDGET_SUBMIT`, `"submittedValue":{"name":"Ana","age":30}`)
	x.both(`"w1"`, `"submitted":true`)
	x.shows(form, true, "Ana", "30", "was told")

	x.step("Someone asks for changes of the plan in a chat")
	x.does("bo", "telegram", "clicks Request changes and replies", func() { x.Typed("bo", plan.On("telegram"), "Request changes", "also do three") })
	x.agent.sees(`WIDGET_SUBMIT`, `"decision":"request_changes"`)
	x.both(`"w2"`, `"submitted":true`)
	x.shows(plan, true, "also do three", "was told")

	x.step("A page reloads: the widgets are submitted")
	x.two.leaves()
	x.two.connects()
	for _, state := range []string{"false", "true"} {
		x.two.sees(`"w1"`, `"submitted":`+state)
		x.two.sees(`"w2"`, `"submitted":`+state)
	}
	x.two.says(`{"type":"widget:submit","id":"c","payload":{"widgetId":"w1","value":{"name":"Bo","age":40}}}`)
	x.two.sees(`"error"`)
	x.ends()
}
