// Package askuserquestion translates the AskUserQuestion tool of coding agents
// in the form of a can_use_tool callback. It reads the tool's questions, and
// returns a permission with the answers in the tool's input. It allows every
// other tool immediately.
package askuserquestion

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Tool is the name of the tool.
const Tool = "AskUserQuestion"

// Separator joins the labels of several choices.
const Separator = ", "

// Call is a tool call that needs permission.
type Call struct {
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
}

// Option is a choice of a question.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// Question is one question of the tool.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header,omitempty"`
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multiSelect"`
}

// Result is the permission for a call.
type Result struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
	Message      string          `json:"message,omitempty"` // message of a denial
}

// Late is an answer from a front end.
type Late struct {
	Type           string            `json:"type"`
	ConversationID string            `json:"conversation_id"`
	ToolCallID     string            `json:"tool_call_id"`
	Answers        map[string]string `json:"answers"`
}

// LateType is the type of Late.
const LateType = "ask_user_response"

// Allow returns a result that lets a tool run with its input unchanged.
func Allow(input json.RawMessage) Result { return Result{Behavior: "allow", UpdatedInput: input} }

// Deny returns the result of a call that ended without an answer, with the
// reason.
func Deny(r bridge.Record) Result { return Result{Behavior: "deny", Message: whyNot(r)} }

// whyNot returns the reason why a call has no answer.
func whyNot(r bridge.Record) string {
	if r.State != bridge.StateExpired {
		return dialect.WhyNot(r)
	}
	seconds := strconv.Itoa(int(r.Interaction.Deadline.Sub(r.Interaction.Created).Seconds()))
	return "User response timed out after " + seconds + " seconds. No one answered in time; no one denied it."
}

// Questions decodes the questions in the tool's input.
func Questions(input []byte) ([]Question, error) {
	var in struct {
		Questions []Question `json:"questions"`
	}
	if err := dialect.Decode("input", input, &in); err != nil {
		return nil, err
	}
	return in.Questions, nil
}

// Request returns the request for the tool's input.
func Request(input []byte) (bridge.Request, error) {
	questions, err := Questions(input)
	if err != nil {
		return bridge.Request{}, err
	}
	return Ask(questions)
}

// Ask returns a request for answers to questions. People can always answer with
// text instead of an option.
func Ask(questions []Question) (bridge.Request, error) {
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, ToolName: Tool, Prompt: strconv.Itoa(len(questions)) + " questions",
	}}
	if len(questions) == 0 {
		return r, bridge.Errorf(bridge.CodeInvalid, "questions: required")
	}
	seen := map[string]bool{}
	var wrong bridge.Problems
	for n, q := range questions {
		at := "questions[" + strconv.Itoa(n) + "]"
		switch {
		case strings.TrimSpace(q.Question) == "":
			wrong.Add(bridge.Errorf(bridge.CodeInvalid, "%s.question: required", at))
			q.Question = at // keep the indexes of the other questions
		case seen[q.Question]:
			wrong.Add(bridge.Errorf(bridge.CodeInvalid, "%s.question: duplicate question; answers are listed by question", at))
		}
		if len(q.Options) == 0 {
			wrong.Add(bridge.Errorf(bridge.CodeInvalid, "%s.options: required", at))
			q.Options = []Option{{Label: at}}
		}
		seen[q.Question] = true
		out := bridge.Question{ID: "q" + strconv.Itoa(n+1), Text: q.Question, Header: bridge.ShortHeader(q.Header), Widget: bridge.WidgetRadio, AllowOther: true}
		if q.MultiSelect {
			out.Widget = bridge.WidgetCheckbox
		}
		for _, o := range q.Options {
			option := bridge.Option{Value: o.Label, Description: o.Description}
			if !q.MultiSelect { // previews apply to single choices only
				option.Preview = o.Preview
			}
			out.Options = append(out.Options, option)
		}
		r.Questions = append(r.Questions, out)
	}
	if len(questions) == 1 { // the prompt contains the only question
		r.Prompt, r.Questions[0].Text = r.Questions[0].Text, ""
	}
	return r, dialect.Refuse(wrong, r, Names)
}

// TextOf returns the text of a question exactly as the tool sent it.
func TextOf(i bridge.Interaction, q bridge.Question) string {
	if q.Text == "" {
		return i.Prompt
	}
	return q.Text
}

// Answers maps the text of each question to the chosen label, to several labels
// joined by the separator, or to free text. If the joined labels could also
// stand for other labels, the value is a JSON list. Answers omits questions
// without an answer.
func Answers(r bridge.Record) (map[string]string, error) {
	if err := dialect.Refused(r); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, q := range r.Interaction.Questions {
		if a := r.Response.Answers[q.ID]; !a.Empty() {
			out[TextOf(r.Interaction, q)] = textOf(q, a)
		}
	}
	return out, nil
}

// textOf returns an answer in the format for the tool.
func textOf(q bridge.Question, a bridge.Answer) string {
	labels := dialect.Labels(q, a)
	if !q.Multiple() {
		return strings.Join(labels, Separator)
	}
	return dialect.Joined(q, labels, Separator)
}

// Permission returns the result of an answered call: the unchanged questions,
// and the answers in the order of the questions.
func Permission(input []byte, r bridge.Record) (Result, error) {
	answers, err := Answers(r)
	if err != nil {
		return Result{}, err
	}
	var in struct {
		Questions json.RawMessage `json:"questions"`
	}
	if err := dialect.Decode("input", input, &in); err != nil {
		return Result{}, err
	}
	var b bytes.Buffer
	b.WriteString(`{"questions":`)
	b.Write(in.Questions)
	b.WriteString(`,"answers":{`)
	first := true
	for _, q := range r.Interaction.Questions {
		text := TextOf(r.Interaction, q)
		a, ok := answers[text]
		if !ok {
			continue
		}
		key, err := dialect.Encode(text)
		if err != nil {
			return Result{}, err
		}
		value, err := dialect.Encode(a)
		if err != nil {
			return Result{}, err
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteString("}}")
	return Allow(b.Bytes()), nil
}

// DecodeAnswers decodes the answers of a front end, which are keyed by the text
// of the question. It rejects unknown questions and invalid answers.
func DecodeAnswers(i bridge.Interaction, answers map[string]string) (bridge.Reply, error) {
	reply := bridge.Reply{Answers: map[string]bridge.Answer{}, Others: map[string]string{}}
	var wrong bridge.Problems
	for _, text := range slices.Sorted(maps.Keys(answers)) {
		if !asked(i, text) {
			wrong.Add(bridge.Errorf(bridge.CodeInvalid, "answers: unknown question %q", text))
		}
	}
	for _, q := range i.Questions {
		text, ok := answers[TextOf(i, q)]
		if !ok {
			continue
		}
		labels, err := []string{text}, error(nil)
		if q.Multiple() {
			labels, err = dialect.Apart(q, text, Separator)
		}
		if err != nil {
			wrong.Add(err)
			continue
		}
		a, other, err := dialect.Choices(q, labels)
		wrong.Add(err)
		if reply.Answers[q.ID] = a; other != "" {
			reply.Others[q.ID] = other
		}
	}
	return reply, wrong.Err()
}

func asked(i bridge.Interaction, text string) bool {
	for _, q := range i.Questions {
		if TextOf(i, q) == text {
			return true
		}
	}
	return false
}
