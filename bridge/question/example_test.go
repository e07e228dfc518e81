package question_test

import (
	"context"
	"fmt"

	"github.com/nodbridge/nod/bridge/question"
)

// The goroutine of a tool is blocked until a terminal answers. With an asker,
// as in question.NewBroker(client.New(url, token, nil)), the team's chats get
// the question as well, and the first answer counts.
func Example() {
	b := question.NewBroker()
	question.SetOnRequest(b, func(req question.Request) {
		go func() { // the terminal shows the question, and later:
			err := b.Respond(req.ID, question.Response{Answers: map[string]string{req.Questions[0].Question: req.Questions[0].Options[1].Label}})
			if err != nil {
				fmt.Println(err)
			}
		}()
	})
	r, err := b.Request(context.Background(), question.Request{Questions: []question.Question{{
		Question: "Which framework?", Header: "Framework",
		Options: []question.Option{{Label: "React"}, {Label: "Vue", Preview: "<template/>"}},
	}}})
	fmt.Println(r.Answers, len(r.Annotations), err)
	// Output: map[Which framework?:Vue] 0 <nil>
}
