// Package person performs the actions of people in tests. Like a person, it acts
// again if nod does not answer, so that a busy machine slows a test but does not
// fail it.
package person

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Patience is the time limit for an action that nod does not answer.
const Patience = time.Minute

// notRecordedTries is the number of times that a person acts who is told that
// nod did not record the action. Tests may expect this reply, so there is a
// limit.
const notRecordedTries = 10

// Unheard reports whether nod did not answer an action in time, or could not
// record it.
func Unheard(reaction sandbox.Reaction) bool { return reaction.Unanswered() || notRecorded(reaction) }

func notRecorded(reaction sandbox.Reaction) bool {
	return strings.Contains(reaction.Toast+fmt.Sprint(reaction.Errors), bridge.NoteNotRecorded)
}

// Insist performs an action as a person does: again if nod does not answer in
// time, for as long as limit, or says that nothing was recorded. Both happen on
// a busy machine. If an unanswered action cannot be repeated, because nod has
// carried it out in the meantime, Insist returns the first reaction without its
// warning.
func Insist(limit time.Duration, do func() (sandbox.Reaction, error)) (sandbox.Reaction, error) {
	reaction, err := do()
	for began, tries := time.Now(), 1; err == nil && Unheard(reaction); tries++ {
		if notRecorded(reaction) && tries >= notRecordedTries || time.Since(began) > limit {
			break
		}
		before := reaction
		if reaction, err = do(); err != nil {
			before.Warning = ""
			return before, nil
		}
	}
	return reaction, err
}

// Form returns an action that opens a form and submits it. When the action is
// repeated, it opens the form again, unless a field refuses its value: then the
// form stays open, and the reaction names it. A form that did not open is opened again
// for as long as limit.
func Form(limit time.Duration, open func() (sandbox.Reaction, error),
	submit func(modal string) (sandbox.Reaction, error)) func() (sandbox.Reaction, error) {
	modal := ""
	return func() (sandbox.Reaction, error) {
		for began := time.Now(); modal == ""; {
			opened, err := open()
			if modal = opened.Modal; err != nil || modal == "" && time.Since(began) > limit {
				return opened, err
			}
		}
		reaction, err := submit(modal)
		if err != nil || len(reaction.Errors) > 0 {
			reaction.Modal = modal
		} else {
			modal = ""
		}
		return reaction, err
	}
}

// Again repeats an action, until ctx ends, whenever a private message tells
// the person that it was not recorded. Seen is the result of Unrecorded before
// the action. A repetition that fails means that nod has carried out the action
// in the meantime.
func Again(ctx context.Context, s *sandbox.Sandbox, who, service string, seen int, do func() (sandbox.Reaction, error)) {
	for s.Wait(ctx, func() bool { return Unrecorded(s, who, service) > seen }) == nil {
		seen++
		_, _ = Insist(Patience, do)
	}
}

// Unrecorded returns the number of private messages that tell a person to act
// again.
func Unrecorded(s *sandbox.Sandbox, who, service string) int {
	n := 0
	for _, note := range s.Person(who).Notes(service) {
		if strings.Contains(note, bridge.NoteNotRecorded) {
			n++
		}
	}
	return n
}

// Press clicks a control as a person does, without a rig.
func Press(ctx context.Context, s *sandbox.Sandbox, who string, at sandbox.Place, label string) (sandbox.Reaction, error) {
	return Insist(Patience, func() (sandbox.Reaction, error) { return s.Person(who).Press(ctx, at, label) })
}
