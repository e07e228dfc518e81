package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// outsider invites the user to click as a person without permission.
const outsider = "Try it: under “You are”, choose Mal, who may not answer, and click a button."

// maxWords limits the length of an answer in the pane, in characters.
const maxWords = 120

// pane is the part of the page that describes what the agent does.
type pane struct {
	sandbox *sandbox.Sandbox
	notes   []sandbox.Note
}

func (p *pane) tell(kind, text string) {
	p.notes = append(p.notes, sandbox.Note{Kind: kind, Text: text})
	p.sandbox.Tell(demoAgent, p.notes...)
}

// blocked states the question of the agent, and that the agent waits.
func (p *pane) blocked(s Scene, invite bool) {
	p.tell("says", s.intro)
	p.tell("asks", render.Line(render.PlainText(render.Markdown(s.Request.Prompt))))
	if invite {
		p.tell("try", outsider)
	}
	p.tell("blocked", "Blocked: the agent waits for a person.")
}

// unblocked replaces the line about the waiting agent with the answer, the time
// until the agent had it, and the next step.
func (p *pane) unblocked(s Scene, rec bridge.Record, now time.Time) {
	p.notes = p.notes[:len(p.notes)-1]
	p.tell("unblocked", "Unblocked"+after(rec, now)+": "+answerWords(rec)+by(rec))
	if rec.State == bridge.StateAnswered || rec.State == bridge.StateApproved {
		p.tell("says", s.next)
		return
	}
	p.tell("says", "The agent does not do it, and continues.")
}

func after(rec bridge.Record, now time.Time) string {
	if rec.Response == nil {
		return ""
	}
	return fmt.Sprintf(" after %d ms", max(now.Sub(rec.Response.At).Milliseconds(), 1))
}

func by(rec bridge.Record) string {
	if rec.Response == nil || rec.Response.Actor == nil {
		return ""
	}
	name := rec.Response.Actor.Display()
	return ", by " + strings.ToUpper(name[:1]) + name[1:]
}

// answerWords returns an answer as the text of its option.
func answerWords(rec bridge.Record) string {
	if rec.State != bridge.StateAnswered {
		return rec.Outcome()
	}
	var words []string
	for _, q := range rec.Interaction.Questions {
		for _, v := range rec.Response.Answers[q.ID].Values() {
			for _, o := range q.Options {
				if o.Value == v {
					v = o.Label
				}
			}
			words = append(words, v)
		}
	}
	return render.Cut(render.Line(strings.Join(words, ", ")), maxWords, render.Runes)
}
