package main

import (
	"fmt"
	"testing"

	"github.com/nodbridge/nod/bridge"
	askbroker "github.com/nodbridge/nod/bridge/question"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// questionStory is the story of an agent that asks, and two pages of its
// conversation.
type questionStory struct {
	*story
	agent, one, two *party
}

// TestStoryAskUserQuestion tells the story of the document about
// AskUserQuestion: the flow of events, the one pending question of a
// conversation, the validation, the timeout, and the client that disconnects.
func TestStoryAskUserQuestion(t *testing.T) {
	t.Parallel()
	x := questionStory{story: newStory(t, "ask_user_question")}
	x.agent = x.joins("agent", rig.TestAgentToken, "")
	hello := `{"type":"hello","sessionId":"conv-1","frames":"question","interaction":{"supported":true,"enabled":true}}`
	x.one, x.two = x.joins("page of ana", rig.AnaToken, hello), x.joins("page of bo", rig.BoToken, hello)
	x.asks()
	x.chats()
	x.timesOut()
	x.disconnects()
	x.ends()
}

// call returns a call of the tool.
func call(id, more, questions string) string {
	return fmt.Sprintf(`{"type":"can_use_tool","id":"%s","conversation_id":"conv-1",%s"tool_name":"AskUserQuestion","tool_use_id":"toolu_%[1]s","input":{"questions":[%[3]s]}}`, id, more, questions)
}

// both waits for a frame at both pages.
func (x questionStory) both(words ...string) {
	x.T.Helper()
	x.one.sees(words...)
	x.two.sees(words...)
}

// asks tells the flow of events, with a restart of the daemon in the middle.
func (x questionStory) asks() {
	x.step("Other tools are allowed at once")
	x.agent.says(`{"type":"can_use_tool","id":"c0","conversation_id":"conv-1","tool_name":"Read","input":{"file_path":"/etc/hosts"}}`)
	x.agent.sees(`"c0"`)

	x.step("The agent asks: every page and every chat shows the question")
	question := call("c1", "", `{"question":"How should I format the output?","header":"Format","options":[{"label":"Summary","description":"Brief overview","preview":"# Summary"},{"label":"Detailed","description":"Full explanation"}],"multiSelect":false},`+
		`{"question":"Which sections?","header":"Sections","options":[{"label":"Introduction","description":"Opening context"},{"label":"Conclusion","description":"Final summary"}],"multiSelect":true}`)
	x.agent.says(question)
	a := pendingWith(x.Crash, "Which sections?")
	x.both(`"calling"`)
	x.shows(a, false, "How should I format the output?")

	x.step("Only one question of a conversation is pending")
	x.agent.says(call("c2", "", `{"question":"And?","options":[{"label":"Yes"}]}`))
	x.agent.sees(`"error"`)

	x.step("The daemon is killed. The pages show the question again, and the agent asks with the same ID")
	x.restarts()
	x.both(`"calling"`)
	x.agent.says(question)

	x.step("Extra keys and other calls are refused; the first valid answer wins")
	answer := `{"type":"ask_user_response","conversation_id":"conv-1","tool_call_id":"toolu_%s","answers":{%s}}`
	valid := `"How should I format the output?":"Summary","Which sections?":"Introduction, an index"`
	x.one.says(fmt.Sprintf(answer, "c1", valid+`,"Extra?":"x"`))
	x.one.sees(`"error"`)
	x.one.says(fmt.Sprintf(answer, "c9", valid))
	x.one.sees(`"error"`)
	x.one.says(fmt.Sprintf(answer, "c1", valid))
	x.agent.sees(`"can_use_tool_result"`)
	x.both(`"completed"`)
	x.two.says(fmt.Sprintf(answer, "c1", valid))
	x.two.sees(`"error"`)
	x.shows(a, true, "Summary", "an index", "was told")
}

// chats tells an answer that comes from a chat.
func (x questionStory) chats() {
	x.step("Someone answers in a chat")
	x.agent.says(call("c3", "", `{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}`))
	a := pendingWith(x.Crash, "Which framework?")
	x.both(`"calling"`)
	x.shows(a, false, "Which framework?")
	x.does("bo", "telegram", "chooses Vue", func() { x.Choose("bo", a.On("telegram"), bridge.WidgetRadio, "Vue") })
	x.agent.sees(`"can_use_tool_result"`)
	x.both(`"completed"`)
	x.shows(a, true, "Vue", "was told")
}

// timesOut tells what the agent learns if no one answers.
func (x questionStory) timesOut() {
	x.step("No one answers in time: the agent is not told that anyone denied it")
	x.agent.says(call("c4", `"timeout":5,`, `{"question":"Anybody?","options":[{"label":"Yes"}],"multiSelect":false}`))
	a := pendingWith(x.Crash, "Anybody?")
	x.both(`"calling"`)
	x.agent.sees(`"can_use_tool_result"`)
	x.both(`"error"`)
	x.shows(a, true, "no one answered")
}

// disconnects tells what happens if a side of the conversation disconnects.
func (x questionStory) disconnects() {
	x.step("The agent disconnects: its question ends")
	x.agent.says(call("c5", "", `{"question":"Still there?","options":[{"label":"Yes"}],"multiSelect":false}`))
	a := pendingWith(x.Crash, "Still there?")
	x.both(`"calling"`)
	x.agent.leaves()
	x.both(`"error"`)
	x.shows(a, true, "the agent disconnected")

	x.step("No chat accepts answers, and the last page is closed: the agent is freed at once")
	x.loses()
	x.agent.connects()
	x.Eventually("the pages of the killed daemon are no longer counted", func() bool {
		n, err := x.Agent.Availability(x.Ctx, "", "conv-1")
		return err == nil && n.Enabled == 2
	})
	x.agent.says(call("c6", "", `{"question":"Go on?","options":[{"label":"Yes"}],"multiSelect":false}`))
	x.both(`"calling"`)
	x.one.leaves()
	x.two.leaves()
	x.agent.sees(`"can_use_tool_result"`)
}

// TestStoryQuestionBroker tells the story of the document about the question
// broker: a program with its own callback, next to the chats and two pages.
func TestStoryQuestionBroker(t *testing.T) {
	t.Parallel()
	x := brokerStory{story: newStory(t, "question_broker"), requests: make(chan askbroker.Request, 1), answers: make(chan string, 1)}
	hello := `{"type":"hello","sessionId":"run-1","frames":"question","interaction":{"supported":true,"enabled":true}}`
	x.one, x.two = x.joins("page of ana", rig.AnaToken, hello), x.joins("page of bo", rig.BoToken, hello)
	x.broker = askbroker.NewBroker(x.Agent)
	askbroker.SetOnRequest(x.broker, func(r askbroker.Request) { x.requests <- r })
	x.tells()
	x.ends()
}

// brokerStory is the story of a program that embeds the broker, and two pages.
type brokerStory struct {
	*story
	one, two *party
	broker   askbroker.Broker
	requests chan askbroker.Request
	answers  chan string
}

// asks blocks a goroutine with a question. It returns the request that the
// callback receives.
func (x brokerStory) asks(text string) askbroker.Request {
	x.note("tool", "calls", "Request "+text)
	go func() {
		r, err := x.broker.Request(x.Ctx, askbroker.Request{Session: "run-1", Questions: []askbroker.Question{{
			Question: text, Header: "Pick", Options: []askbroker.Option{{Label: "First", Description: "the one", Preview: "[1]"}, {Label: "Second"}},
		}}})
		x.answers <- fmt.Sprint(r.Answers, " ", r.Annotations, " ", err)
	}()
	r := <-x.requests
	x.note("callback", "receives", r.ID+" "+r.Questions[0].Question)
	return r
}

// returns waits until the goroutine of the tool continues.
func (x brokerStory) returns() { x.note("tool", "gets", <-x.answers) }

func (x brokerStory) tells() {
	x.step("A tool asks: the callback comes first, and pages and chats show the question too")
	x.asks("Which color?")
	a := pendingWith(x.Crash, "Which color?")
	x.one.sees(`"calling"`)
	x.two.sees(`"calling"`)
	x.shows(a, false, "Which color?")

	x.step("The daemon is killed, and the tool stays blocked. A chat answers first")
	x.restarts()
	x.one.sees(`"calling"`)
	x.two.sees(`"calling"`)
	x.does("ana", "discord", "chooses First", func() { x.Choose("ana", a.On("discord"), bridge.WidgetRadio, "First") })
	x.returns()
	x.one.sees(`"completed"`)
	x.two.sees(`"completed"`)
	x.shows(a, true, "First", "was told")

	x.step("The callback answers first: the cards close")
	r := x.asks("Which shape?")
	b := pendingWith(x.Crash, "Which shape?")
	x.one.sees(`"calling"`)
	x.two.sees(`"calling"`)
	x.responds(r, "Which shape?")
	x.returns()
	x.one.sees(`"error"`)
	x.two.sees(`"error"`)
	x.shows(b, true, "Answered in the agent's process")

	x.step("No chat accepts answers and no page is open: the callback works alone")
	x.loses()
	x.one.leaves()
	x.two.leaves()
	x.Eventually("no one is counted", func() bool {
		a, err := x.Agent.Availability(x.Ctx, "", "run-1")
		return err == nil && !a.Available
	})
	x.responds(x.asks("Which size?"), "Which size?")
	x.returns()

	x.step("The daemon is gone: the callback works alone")
	x.Kill()
	r = x.asks("Which age?")
	x.responds(r, "Which age?")
	x.responds(r, "Which age?")
	x.returns()
	x.StartDaemon() // the broker tries to close what it may have opened
}

// responds answers from the callback's side, twice if it is called again.
func (x brokerStory) responds(r askbroker.Request, text string) {
	x.T.Helper()
	x.note("callback", "calls", "Respond "+r.ID+" Second")
	if err := x.broker.Respond(r.ID, askbroker.Response{Answers: map[string]string{text: "Second"}}); err != nil {
		x.T.Error(err)
	}
}
