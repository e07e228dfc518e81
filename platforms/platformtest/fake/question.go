package fake

import (
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Question is a question to ana and bo in channel C of a session.
func Question(prompt string) bridge.Interaction {
	var i bridge.Interaction
	i.Kind, i.Prompt, i.Agent, i.Session = bridge.KindAsk, prompt, "ci", "s"
	i.Questions = []bridge.Question{{ID: "q", Widget: bridge.WidgetConfirm}}
	i.Destinations = []bridge.Destination{{Platform: "chat", Channel: "C"}}
	i.Responders = []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}, {Person: "bo", Platform: "chat", User: "U-bo"}}
	i.Created, i.Deadline = time.Now(), time.Now().Add(time.Hour)
	i.Round, i.MaxRounds = 1, 3
	return i
}
