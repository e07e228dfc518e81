package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestAnswerShowsAll checks that everything that a card shows is in the text
// that a person reads before an answer in a terminal.
func TestAnswerShowsAll(t *testing.T) {
	t.Parallel()
	approval := func(tool, input string) bridge.Ask {
		return bridge.Ask{Kind: bridge.KindApproval, Prompt: "May I?", Approval: &bridge.Approval{Tool: tool, Input: json.RawMessage(input)}}
	}
	private := approval("db", `{"sql":"DROP TABLE users"}`)
	for name, x := range map[string]struct {
		ask     bridge.Ask
		private bool
		want    []string
	}{
		"a query":         {approval("run_sql", `{"sql":"DROP TABLE users"}`), false, []string{"run_sql", "DROP TABLE users"}},
		"a file":          {approval("Write", `{"file_path":"/etc/passwd","content":"root::0\nlast line"}`), false, []string{"/etc/passwd", "root::0", "last line"}},
		"a change":        {approval("Edit", `{"file_path":"a.go","old_string":"was","new_string":"becomes"}`), false, []string{"a.go", "was", "becomes"}},
		"a program":       {approval("run", `{"argv":["ls","-l"],"program":"/tmp/ls","stdin":"a pipe"}`), false, []string{"ls -l", "/tmp/ls", "a pipe"}},
		"a variable":      {approval("Bash", `{"command":"LD_PRELOAD=/tmp/x.so ls","env":{"TERM":"xterm"}}`), false, []string{"LD_PRELOAD=/tmp/x.so", "xterm"}},
		"a location":      {bridge.Ask{Kind: bridge.KindApproval, Prompt: "?", Approval: &bridge.Approval{Tool: "deploy", Where: "production"}}, false, []string{"production"}},
		"a private query": {private, true, []string{"DROP TABLE users"}},
		"a question": {bridge.Ask{Kind: bridge.KindAsk, Prompt: "About the release", Questions: []bridge.Question{
			{ID: "a", Widget: bridge.WidgetSelect, Text: "Which region?", Description: "where users are", Options: []bridge.Option{{Value: "eu", Label: "Europe", Description: "near"}, {Value: "us"}}},
			{ID: "b", Widget: bridge.WidgetText, Text: "Which reason?"},
		}}, false, []string{"About the release", "Which region?", "where users are", "Europe", "near", "Which reason?"}},
		"a plan": {bridge.Ask{Kind: bridge.KindAsk, Prompt: "Please review", Questions: []bridge.Question{
			{ID: "q", Widget: bridge.WidgetPlanReview, Plan: "1. Drop all\n2. Pray"},
		}}, false, []string{"Drop all", "Pray"}},
	} {
		i := bridge.Interaction{ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Agent: "ci", Ask: x.ask}
		i.Private = x.private
		var text, seen strings.Builder
		printRecord(&text, bridge.Record{State: bridge.StatePending, Interaction: i})
		if err := confirmRead(bufio.NewReader(strings.NewReader("y\n")), &seen, text.String(), 0, 0); err != nil {
			t.Error(name, err)
		}
		for _, want := range x.want {
			if !strings.Contains(seen.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, seen.String())
			}
		}
	}
}

// TestAnswerPages checks that nothing is answered before the whole text was
// shown, a screen at a time.
func TestAnswerPages(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for n := range 30 {
		fmt.Fprintf(&long, "line %d\n", n)
	}
	wide := strings.Repeat("x", 95) + "\n" + strings.Repeat("y", 95) // 10 lines each on a narrow screen
	for name, x := range map[string]struct {
		text, typed    string
		lines, columns int
		asked, stops   int // screens before the end, and whether it was not answered
	}{
		"short":            {"one\ntwo", "y\n", 24, 80, 0, 0},
		"no size":          {long.String(), "y\n", 0, 0, 0, 0},
		"long":             {long.String(), "\n\n\ny\n", 10, 80, 3, 0},
		"yes too early":    {long.String(), "y\ny\ny\n", 10, 80, 3, 1},
		"stopped":          {long.String(), "q\n", 10, 80, 1, 1},
		"end of the input": {long.String(), "\n", 10, 80, 2, 1},
		"long lines":       {wide, "\ny\n", 12, 10, 1, 0},
		"wide characters":  {strings.Repeat("承", 48) + "\n" + strings.Repeat("認", 48), "\ny\n", 12, 10, 1, 0},
		"tabs":             {strings.Repeat("a\t", 11) + "\n" + strings.Repeat("b\t", 11), "\ny\n", 12, 10, 1, 0},
		"joined emoji":     {strings.Repeat("👨\u200d", 47) + "👨\n" + strings.Repeat("👩\u200d", 47) + "👩", "\ny\n", 12, 10, 1, 0},
		"no":               {"one", "n\n", 24, 80, 0, 1},
	} {
		var seen strings.Builder
		err := confirmRead(bufio.NewReader(strings.NewReader(x.typed)), &seen, x.text, x.lines, x.columns)
		if (err != nil) != (x.stops > 0) || strings.Count(seen.String(), "shows more") != x.asked {
			t.Errorf("%s: %v\n%s", name, err, seen.String())
		}
		if err == nil && !strings.Contains(strings.Join(strings.Split(seen.String(), "-- Enter shows more, q stops -- "), ""), strings.TrimSpace(x.text)) {
			t.Errorf("%s: not all of it was shown:\n%s", name, seen.String())
		}
	}
}
