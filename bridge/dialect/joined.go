package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Joined returns chosen labels as one text, joined by sep. If the text could
// also stand for other labels, it is a JSON list of the labels.
func Joined(q bridge.Question, labels []string, sep string) string {
	text := strings.Join(labels, sep)
	if again, err := Apart(q, text, sep); err == nil && slices.Equal(again, labels) {
		return text
	}
	raw, _ := bridge.EncodeJSON(labels) // strings always encode
	return string(raw)
}

// Apart splits a text into labels: the labels in a JSON list, or labels joined
// by sep. It recognizes labels that contain sep. If the question allows free
// text, free text may contain sep too. It returns CodeInvalid for a text that
// can stand for several choices.
func Apart(q bridge.Question, s, sep string) ([]string, error) {
	var list []string
	if strings.HasPrefix(s, "[") && json.Unmarshal([]byte(s), &list) == nil {
		return list, nil
	}
	if readings(q, s, sep) > 1 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "answers.%s: %q stands for several choices", q.ID, s).
			WithHint(`send a JSON list of labels, such as ["a","b"]`)
	}
	return splitLabels(q, s, sep), nil
}

// readings returns the number of ways in which a text consists of labels and,
// if the question allows free text, of other texts. It returns at most 2.
func readings(q bridge.Question, s, sep string) int {
	ways := make([]int, len(s)+1) // number of ways from each position
	ways[len(s)] = 1
	for at := len(s) - 1; at >= 0; at-- {
		labeled := false
		for _, o := range q.Options {
			if n := next(s[at:], o.Text(), sep); n > 0 {
				ways[at], labeled = min(ways[at]+ways[at+n], 2), true
			}
		}
		if !labeled && q.AllowOther {
			other, _, _ := strings.Cut(s[at:], sep)
			ways[at] = ways[min(at+len(other)+len(sep), len(s))]
		}
	}
	return ways[0]
}

// next returns the distance to the next label if a text starts with this label,
// or 0 if it does not.
func next(s, label, sep string) int {
	switch {
	case label == "":
		return 0
	case s == label:
		return len(label)
	case strings.HasPrefix(s, label+sep):
		return len(label + sep)
	}
	return 0
}

// splitLabels splits a list of labels that sep joins.
func splitLabels(q bridge.Question, s, sep string) []string {
	var out []string
	free := false // whether the last text is not a label
	for s != "" {
		best, known := "", false
		for _, o := range q.Options {
			if t := o.Text(); len(t) > len(best) && (s == t || strings.HasPrefix(s, t+sep)) {
				best, known = t, true
			}
		}
		if !known {
			best, _, _ = strings.Cut(s, sep)
		}
		switch {
		case free && !known && q.AllowOther:
			out[len(out)-1] += sep + best
		case best != "":
			out = append(out, best)
			free = !known
		}
		s = strings.TrimPrefix(strings.TrimPrefix(s, best), sep)
	}
	return out
}
