package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// choices returns the answer that a text gives to a question with several choices:
// options with commas between them, or a JSON list. An option may have commas too.
// A text that stands for more than one choice of options is an error.
func choices(q bridge.Question, text string) (bridge.Answer, error) {
	values := make([]string, len(q.Options))
	for n, o := range q.Options {
		values[n] = o.Value
	}
	var list []string
	if json.Unmarshal([]byte(text), &list) == nil && !slices.Contains(values, text) {
		return bridge.ListAnswer(list...), nil
	}
	pieces := strings.Split(text, ",")
	switch ways := joined(pieces, values); len(ways) {
	case 0: // text of the person's own, or an error of the daemon
		return bridge.ListAnswer(pieces...), nil
	case 1:
		return bridge.ListAnswer(ways[0]...), nil
	}
	return bridge.Answer{}, bridge.Errorf(bridge.CodeInvalid, "%s: %q can mean several choices of options", q.ID, text).
		WithHint(`use a JSON list, such as '["eu","us"]'`)
}

// joined returns two of the ways, at most, to join pieces with commas so that each
// result is one of some values, without the spaces around it.
func joined(pieces, values []string) [][]string {
	ways := make([][][]string, len(pieces)+1) // from each piece to the last one
	ways[len(pieces)] = [][]string{nil}
	for from := len(pieces) - 1; from >= 0; from-- {
		for to := from + 1; to <= len(pieces) && len(ways[from]) < 2; to++ {
			first := strings.TrimSpace(strings.Join(pieces[from:to], ","))
			if !slices.Contains(values, first) {
				continue
			}
			for _, rest := range ways[to] {
				ways[from] = append(ways[from], append([]string{first}, rest...))
			}
		}
	}
	return ways[0][:min(len(ways[0]), 2)]
}
