package main

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/pty"
)

// TestAnswersOnTerminal checks that an answer with escape sequences reaches a
// terminal without them, and a program as it was typed.
func TestAnswersOnTerminal(t *testing.T) {
	t.Parallel()
	const typed = "eu\x1b]0;title\x07\x1b[2J"
	rec := bridge.Record{Interaction: bridge.Interaction{Ask: bridge.Ask{Questions: []bridge.Question{{ID: "q"}}}},
		Response: &bridge.Response{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer(typed)}}}
	tty, written := pty.Open(t, 0, 0)
	if err := printAnswers(tty, rec); err != nil {
		t.Fatal(err)
	}
	if out := written(); strings.ContainsAny(out, "\x1b\x07") || !strings.Contains(out, "eu") {
		t.Errorf("a terminal gets %q", out)
	}
	var program strings.Builder
	if err := printAnswers(&program, rec); err != nil || program.String() != typed+"\n" {
		t.Errorf("a program gets %q, %v", program.String(), err)
	}
}
