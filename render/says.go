package render

import (
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// boilerplate reports whether a text is one of the prompts with which nod's own
// translations introduce an approval. Such a prompt repeats the headline. The
// location of the request may follow.
func boilerplate(i bridge.Interaction, text string) bool {
	if introduces(i, text) {
		return true
	}
	where := i.Approval.Where
	rest, ok := strings.CutSuffix(text, where)
	if where == "" || !ok {
		return false
	}
	rest, ok = strings.CutSuffix(rest, " in ")
	return ok && introduces(i, rest)
}

// introduces is boilerplate for a text without a location.
func introduces(i bridge.Interaction, text string) bool {
	tool := i.Approval.Tool
	if text == tool || text == "Run this command?" {
		return true
	}
	if rest, ok := strings.CutPrefix(text, "Allow "); ok {
		if rest, ok = strings.CutSuffix(rest, "?"); ok && (rest == tool || len(rest) == len(tool)+2 && rest[0] == '"' && rest[len(rest)-1] == '"' && rest[1:len(rest)-1] == tool) {
			return true
		}
	}
	for _, who := range [...]string{"Claude Code", "Codex", "The agent", i.Agent} {
		rest, ok := strings.CutPrefix(text, who)
		if rest, wants := strings.CutPrefix(rest, " wants to "); ok && wants {
			does, what, _ := strings.Cut(rest, " ")
			if rest == "run a command" || rest == "change files" || (does == "use" || does == "do") && what == tool && len(rest) > len(does) {
				return true
			}
		}
	}
	return false
}

// says returns the agent's text about its request.
func says(i bridge.Interaction, act Action) []Block {
	doc := Markdown(i.Prompt)
	if act.leads {
		return doc[1:]
	}
	if len(doc) == 0 || doc[0].Kind != Paragraph {
		return doc
	}
	if boilerplate(i, PlainText(doc[:1])) {
		return doc[1:]
	}
	return doc
}
