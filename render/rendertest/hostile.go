package rendertest

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// marks are pieces of Markdown, and characters that platforms treat in special
// ways.
var marks = []string{
	"> ", ">", "#", "## ", "- ", "* ", "1. ", "```", "```\n", "`", "**", "_", "~~", "---\n", "[", "](", ")", "[]()", "![](", "![a](b)", "<b>", "<!-- x -->",
	"<https://a.example>", "[a]: http://b\n", "|", "\\", "&amp;", "    ", "\t", "\n", "\n\n", "\n\n\n", " ", "a", "word ", "deploy", "@here", "<@U1>", ":tada:",
	"👍🏽", "1️⃣", "ℹ️", "\u200d", "\u00a0", "é", "中", "⟨", "x^2", "$", "%", "{", "}", "#channel", "/cmd", "…",
}

// markdown returns random Markdown: pieces in any order, or nested blocks.
func markdown(r *rand.Rand) string {
	if r.IntN(2) > 0 {
		return nested(r, r.IntN(4))
	}
	var b strings.Builder
	for range 1 + r.IntN(9) {
		b.WriteString(marks[r.IntN(len(marks))])
	}
	return b.String()
}

// bare lists blocks without nested blocks. Most of them have no visible text.
var bare = []string{
	"", " ", "text", "*a* `b`", "#", "###### ", "# a", "a\n=", "```\n```", "```go\n\n```", "```", "~~~\na\n~~~", "    ", "    a", "---", "***", "****", "** **", "``", "` `",
	"~~ ~~", "[]()", "[ ](http://a.example)", "![]()", "![](http://a.example)", "<!-- -->", "<br>", "[a]: http://b.example", "|a|\n|-|", "\\", "&nbsp;", "&#8203;", "\u200b",
	"\u00ad", "\u2063", "- [ ] ", "[^1]: ", "\u2028",
}

// nested returns blocks, some of them in quotes and lists of the given depth.
// The first, the last and the innermost can be empty.
func nested(r *rand.Rand, depth int) string {
	var all []string
	for range 1 + r.IntN(3) {
		if depth == 0 || r.IntN(3) == 0 {
			all = append(all, bare[r.IntN(len(bare))])
			continue
		}
		first := []string{"> ", ">", "- ", "* ", "+ ", "1. ", "7) ", ">- ", "-"}[r.IntN(9)]
		rest := first
		if !strings.HasPrefix(first, ">") {
			rest = strings.Repeat(" ", len(first))
		}
		inner := strings.ReplaceAll(nested(r, depth-1), "\n", "\n"+rest)
		all = append(all, first+inner)
	}
	return strings.Join(all, []string{"\n", "\n\n"}[r.IntN(2)])
}

// Hostile returns a view in which every text from an agent or a person is
// random Markdown.
func Hostile(r *rand.Rand) Sample {
	for {
		all := Samples()
		s := all[r.IntN(len(all))]
		rec := &s.View.Record
		i := &rec.Interaction
		texts := []*string{&i.Prompt, &i.Requester, &i.Session}
		i.Questions = slices.Clone(i.Questions)
		for n := range i.Questions {
			q := &i.Questions[n]
			texts = append(texts, &q.Text, &q.Description, &q.Header, &q.Plan, &q.Placeholder)
			q.Options, q.Items = slices.Clone(q.Options), slices.Clone(q.Items)
			for k := range q.Options {
				texts = append(texts, &q.Options[k].Label, &q.Options[k].Description, &q.Options[k].Preview)
			}
			if len(q.Schema) > 0 {
				q.Schema = schema(r)
			}
			for k := range q.Items {
				texts = append(texts, &q.Items[k].Content)
			}
		}
		if i.Approval != nil {
			a := *i.Approval
			i.Approval = &a
			input, _ := json.Marshal(map[string]string{"command": markdown(r), "description": markdown(r), markdown(r): markdown(r)})
			a.Input, i.Approval.Where = input, markdown(r)
			if r.IntN(2) > 0 {
				i.Approval.Input = input
			}
		}
		if rec.Response != nil {
			texts = append(texts, &rec.Response.Reason)
		}
		if rec.Completion != nil {
			texts = append(texts, &rec.Completion.Result, &rec.Completion.Error)
		}
		for _, t := range texts {
			if *t != "" || r.IntN(8) == 0 {
				*t = markdown(r)
			}
		}
		if r.IntN(2) > 0 {
			i.Session = ""
		}
		if i.Ask.Normalize() == nil { // nod refuses invalid questions
			return s
		}
	}
}

// schema returns the schema of a form with random texts.
func schema(r *rand.Rand) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{
		"type": "object", "title": markdown(r), "description": markdown(r), "properties": map[string]any{
			"a": map[string]any{"type": "string", "title": markdown(r), "description": markdown(r)},
			"b": map[string]any{"type": "string", "title": markdown(r), "oneOf": []any{
				map[string]any{"const": "x", "title": markdown(r)}, map[string]any{"const": "y", "title": markdown(r), "description": markdown(r)},
			}},
		},
	})
	return raw
}

// Texts returns the texts of a sample, for the message of a failed test.
func (s Sample) Texts() string {
	raw, _ := json.Marshal(map[string]any{"ask": s.View.Record.Interaction.Ask, "response": s.View.Record.Response, "completion": s.View.Record.Completion})
	return s.Name + ": " + string(raw)
}
