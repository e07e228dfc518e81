// Package person performs the actions of people in tests. A person acts once:
// an action fails the test if nod does not answer or does not record it. Only a
// test that makes nod fail lets people repeat actions, with Insist.
package person

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Did fails the test if an action was impossible, if nod did not answer it in
// time, or if nod reports that it did not record the action.
func Did(t testing.TB, reaction sandbox.Reaction, err error) sandbox.Reaction {
	t.Helper()
	if Answered(t, reaction, err); unrecorded(reaction) {
		t.Fatalf("nod did not record an action: %+v", reaction)
	}
	return reaction
}

// Answered fails the test if an action was impossible, or if nod did not answer
// it in time.
func Answered(t testing.TB, reaction sandbox.Reaction, err error) sandbox.Reaction {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if reaction.Warning != "" {
		t.Fatalf("the client warns: %s", reaction.Warning)
	}
	return reaction
}

// Form opens a form and submits it. It returns the reaction to the submission,
// or to the click if no form opened. If the form or one of its fields rejects a
// value, the form stays open, and the reaction names it.
func Form(open func() (sandbox.Reaction, error), submit func(modal string) (sandbox.Reaction, error)) (sandbox.Reaction, error) {
	opened, err := open()
	if err != nil || opened.Modal == "" {
		return opened, err
	}
	reaction, err := submit(opened.Modal)
	if err != nil || len(reaction.Errors) > 0 {
		reaction.Modal = opened.Modal
	}
	return reaction, err
}

// Insist performs an action while the test makes nod fail. It repeats the
// action for at most limit until nod answers and records it. If an action
// cannot be repeated, because nod has carried it out in the meantime, Insist
// returns the first reaction without its warning.
func Insist(limit time.Duration, do func() (sandbox.Reaction, error)) (sandbox.Reaction, error) {
	reaction, err := do()
	for began := time.Now(); err == nil && (reaction.Unanswered() || unrecorded(reaction)) && time.Since(began) < limit; {
		before := reaction
		if reaction, err = do(); err != nil {
			before.Warning = ""
			return before, nil
		}
	}
	return reaction, err
}

// unrecorded reports whether a reaction says that nod did not record an action.
func unrecorded(reaction sandbox.Reaction) bool {
	return strings.Contains(reaction.Toast+fmt.Sprint(reaction.Errors), bridge.NoteNotRecorded)
}
