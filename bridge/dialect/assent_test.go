package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

// hidden redacts every text of a record that people see, as the daemon does.
func hidden(rec bridge.Record) bridge.Record {
	hide := func(s string) string { return strings.ReplaceAll(s, "api_key=abc", "[redacted]") }
	i := &rec.Interaction
	i.Redacted, i.Prompt = 1, hide(i.Prompt)
	i.Questions = append([]bridge.Question(nil), i.Questions...)
	for n := range i.Questions {
		q := &i.Questions[n]
		q.Text, q.Header = hide(q.Text), hide(q.Header)
		q.Options = append([]bridge.Option(nil), q.Options...)
		for k := range q.Options {
			q.Options[k].Label, q.Options[k].Description = hide(q.Options[k].Label), hide(q.Options[k].Description)
		}
	}
	if i.Approval != nil {
		a := *i.Approval
		a.Input = json.RawMessage(hide(string(a.Input)))
		i.Approval = &a
	}
	return rec
}

// TestAnswersKeepTheWords checks that an answer has the words and keys that the
// agent sent, although people saw them redacted.
func TestAnswersKeepTheWords(t *testing.T) {
	t.Parallel()
	const questions = `{"questions":[{"question":"Set api_key=abc in .env?","header":"Key","options":[{"label":"Yes"},{"label":"No"}],"multiSelect":false}]}`
	hook := func(event, tool, input string) string {
		return `{"session_id":"s","hook_event_name":"` + event + `","tool_name":"` + tool + `","tool_use_id":"t","tool_input":` + input + `}`
	}
	claude := func(raw []byte) (dialect.Translation, error) { return claudecode.Hook(raw, claudecode.AskLocally) }
	prompt := func(raw []byte) (dialect.Translation, error) {
		var a claudecode.PromptArguments
		if err := json.Unmarshal(raw, &a); err != nil {
			return dialect.Translation{}, err
		}
		return claudecode.Prompt(a, "s")
	}
	call := func(raw []byte) (dialect.Translation, error) {
		r, err := askuserquestion.Request(raw)
		return dialect.One(r, "", func(rec bridge.Record) (any, error) { return askuserquestion.Permission(raw, rec) }), err
	}
	yes := bridge.Response{Answers: map[string]bridge.Answer{"q1": bridge.TextAnswer("Yes")}}
	once := bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}
	for _, c := range []struct {
		name, in  string
		translate func([]byte) (dialect.Translation, error)
		resp      bridge.Response
		want      string
	}{
		{"question", questions, call, yes, `"Set api_key=abc in .env?":"Yes"`},
		{"two questions", questions[:len(questions)-2] + `,{"question":"Or api_key=abc?","header":"h","options":[{"label":"a"},{"label":"b"}],"multiSelect":true}]}`, call,
			bridge.Response{Answers: map[string]bridge.Answer{"q1": bridge.TextAnswer("No"), "q2": bridge.ListAnswer("a", "b")}}, `"Or api_key=abc?":"a, b"`},
		{"PreToolUse", hook("PreToolUse", "AskUserQuestion", questions), claude, yes, `"Set api_key=abc in .env?":"Yes"`},
		{"PermissionRequest", hook("PermissionRequest", "AskUserQuestion", questions), claude, yes, `"Set api_key=abc in .env?":"Yes"`},
		{"permission prompt", `{"tool_name":"Bash","input":{"command":"curl api_key=abc","n":1234567890123.50}}`, prompt, once, `{"command":"curl api_key=abc","n":1234567890123.50}`},
		{"Codex", `{"id":1,"method":"item/tool/requestUserInput","params":{"threadId":"t","turnId":"u","itemId":"i","questions":[{"id":"q1","header":"h","question":"api_key=abc?","options":[{"label":"Yes"}]}]}}`, codex.Request, yes, `"q1":{"answers":["Yes"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr, err := c.translate([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			x := tr.Exchanges[0]
			out, err := x.Answer(hidden(dialecttest.Record(t, x.Request, c.resp)))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := dialect.Encode(out)
			if err != nil || !strings.Contains(string(raw), c.want) || strings.Contains(string(raw), "redacted") {
				t.Errorf("%s, %v, want %s", raw, err, c.want)
			}
		})
	}
}
