package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// choices returns the answer that a text gives to a question with several
// choices. The text is a list of options, separated by commas, or a JSON list.
// An option may contain commas too. It is an error if the text can stand for
// several sets of options.
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
	case 0: // custom text, or an error for the daemon to report
		return bridge.ListAnswer(pieces...), nil
	case 1:
		return bridge.ListAnswer(ways[0]...), nil
	}
	return bridge.Answer{}, bridge.Errorf(bridge.CodeInvalid, "%s: %q can stand for several combinations of options", q.ID, text).
		WithHint(`use a JSON list, such as '["eu","us"]'`)
}

// joined returns up to two ways to join pieces with commas so that each result,
// without surrounding spaces, is one of the values.
func joined(pieces, values []string) [][]string {
	ways := make([][][]string, len(pieces)+1) // ways to join the pieces from each index to the end
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
