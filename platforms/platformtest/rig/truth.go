package rig

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// receipts lists the texts about the delivery of the response to the agent. A
// closed card has exactly one of them.
var receipts = []string{
	"was told", "Not picked up yet", "stopped waiting; its session will be told",
}

// Untrue describes the first contradiction between a message and a record: the
// state, the deciding people, the answer, whether the agent has it, or the
// controls. It returns "" if all messages are truthful. It does not use the
// code that draws the cards.
func (r *Rig) Untrue(rec bridge.Record) string {
	for n, d := range rec.Interaction.Destinations {
		ref, ok := rec.Messages[n]
		if !ok {
			return fmt.Sprintf("no card on %s", d.Platform)
		}
		at := sandbox.Place{Service: d.Platform, Channel: ref.Channel, Message: ref.Message}
		if problem := r.untrueAt(at, rec); problem != "" {
			return d.Platform + ": " + problem
		}
	}
	return ""
}

func (r *Rig) untrueAt(at sandbox.Place, rec bridge.Record) string {
	m := r.Sandbox.Message(at)
	if m == nil {
		return "the card is gone"
	}
	shown := own(at.Service, m)
	has := func(s string) bool { return strings.Contains(shown, Normal(at.Service, s)) }
	for _, want := range told(rec) {
		if !has(want) {
			return fmt.Sprintf("the card does not say %q: %s", want, shown)
		}
	}
	for _, never := range untold(rec) {
		if has(never) {
			return fmt.Sprintf("the card says %q: %s", never, shown)
		}
	}
	if at := rec.Response; rec.State.Final() && !has(at.At.UTC().Format(time.TimeOnly+" UTC")) && !has(fmt.Sprintf("<t:%d:", at.At.Unix())) {
		return fmt.Sprintf("the card does not say when it was %s: %s", rec.State, shown)
	}
	if n := len(sandbox.Controls(at.Service, m)); rec.State.Final() != (n == 0) {
		return fmt.Sprintf("%d controls, and the request is %s", n, rec.State)
	}
	if a := rec.Interaction.Approval; a != nil && rec.State.Final() && struck(at.Service, m) == mayHaveRun(rec) {
		return fmt.Sprintf("the request is %s, and its action is struck through: %t", rec.State, struck(at.Service, m))
	}
	return ""
}

// own returns the normalized text of a message, without files.
func own(service string, m map[string]any) string {
	if service == "discord" {
		return Normal(service, discordShown(m, nil))
	}
	return Normal(service, ShownIn(m))
}

// terminal maps reasons to the headlines of requests that were settled at the
// terminal of the agent.
var terminal = map[string]string{
	bridge.ReasonAllowed: "⌨️ Approved in the terminal", bridge.ReasonAnswered: "⌨️ Answered in the terminal",
	bridge.ReasonDismissed: "⌨️ Not approved in the terminal", bridge.ReasonSettled: "⌨️ Decided in the terminal",
	bridge.ReasonAllowedEditor: "⌨️ Approved in the editor", bridge.ReasonAnsweredEditor: "⌨️ Answered in the editor",
	bridge.ReasonDismissedEditor: "⌨️ Not approved in the editor", bridge.ReasonSettledEditor: "⌨️ Decided in the editor",
	bridge.ReasonInProcess: "⌨️ Answered in the agent's process",
}

// mayHaveRun reports whether an action was approved, or may have been approved
// at the terminal.
func mayHaveRun(rec bridge.Record) bool {
	reason := rec.Response.Reason
	return rec.State == bridge.StateApproved || rec.State == bridge.StateCancelled && terminal[reason] != "" && reason != bridge.ReasonDismissed && reason != bridge.ReasonDismissedEditor
}

// struck reports whether a message has text that is struck through.
func struck(service string, m map[string]any) bool {
	raw, _ := json.Marshal(m) // decoded JSON always marshals
	return strings.Contains(string(raw), map[string]string{"slack": `"strike":true`, "discord": "~~", "telegram": `"strikethrough"`}[service])
}

// told returns the texts that the card of a record must contain.
func told(rec bridge.Record) []string {
	resp := rec.Response
	if !rec.State.Final() {
		out := []string{"Expires "}
		for _, v := range rec.Votes {
			out = append(out, v.Actor.Person)
		}
		return out
	}
	out := []string{headline(rec)}
	if a := resp.Actor; a != nil {
		out = append(out, map[string]string{
			"slack": " · in Slack", "discord": " · in Discord", "telegram": " · in Telegram", bridge.PlatformAPI: " · in the console or the API",
		}[a.Platform])
	}
	if responded(rec) {
		out = append(out, receipts[receipt(rec)])
	}
	if resp.Reason != "" && rec.State != bridge.StateExpired && terminal[resp.Reason] == "" {
		out = append(out, resp.Reason)
	}
	if len(resp.Input) > 0 {
		var now struct {
			Command string `json:"command"`
		}
		_ = json.Unmarshal(resp.Input, &now) // an input without a command is not checked
		out = append(out, now.Command)
	}
	return append(out, answers(rec)...)
}

// answers returns the answers that a closed card must repeat.
func answers(rec bridge.Record) []string {
	if rec.State != bridge.StateAnswered {
		return nil
	}
	var out []string
	for _, f := range rec.Interaction.Fields() {
		if a := f.FieldAnswer(rec.Interaction, rec.Response.Answers); !a.Empty() && !rec.Interaction.LonePlan() {
			out = append(out, f.Labels(a))
		}
	}
	return out
}

// untold returns the texts that the card of a record must not contain.
func untold(rec bridge.Record) []string {
	var out []string
	withdrawn := rec.State == bridge.StateCancelled && rec.Response.WithdrawnBy != nil && !rec.Delivered.IsZero()
	decided := responded(rec) || withdrawn
	for n, s := range receipts {
		if !decided || n != receipt(rec) {
			out = append(out, s)
		}
	}
	if rec.State.Final() {
		return append(out, "Expires ", "waiting for ")
	}
	return append(out, "✅ Approved", "❌ Denied", "⌛", "🚫", "✏️")
}

// responded reports whether the response of a record came from a person, or
// from nod on behalf of people.
func responded(rec bridge.Record) bool {
	declined := rec.State == bridge.StateCancelled && rec.Response.Actor != nil
	return declined || rec.State.Decided() || rec.State == bridge.StateAnswered
}

// receipt returns the index in receipts of the text that is true for a record.
func receipt(rec bridge.Record) int {
	switch {
	case !rec.Delivered.IsZero():
		return 0
	case !rec.Queued.IsZero():
		return 2
	}
	return 1
}

// covers returns one of three texts about an approval: repeats, everything that
// a rule matches, or everything that the agent remembers.
func covers(rec bridge.Record, repeats, rule, kept string) string {
	switch i := rec.Interaction; {
	case i.Approval.AgentRemembers:
		return kept
	case len(i.RuleGrants) > 0:
		return rule
	}
	return repeats
}

// headline returns the first words of a closed card: the outcome, and the
// person who caused it.
func headline(rec bridge.Record) string {
	resp := rec.Response
	who := ""
	if a := resp.Actor; a != nil {
		who = a.Person
	}
	if by := rec.Voters(rec.State); len(by) > 1 {
		who = strings.Join(by[:len(by)-1], ", ") + " and " + by[len(by)-1]
	}
	switch rec.State {
	case bridge.StateApproved:
		switch {
		case resp.Scope == bridge.ScopeSession:
			return "✅ Approved by " + who + covers(rec, ", also for identical requests in this session", ", also for its rule in this session", " for this session")
		case resp.Scope == bridge.ScopeAlways && rec.Interaction.Approval.AgentRemembers:
			return "✅ Always approved by " + who
		case resp.Scope == bridge.ScopeAlways:
			return "✅ Approved by " + who + covers(rec, ", also for all identical requests", ", also for everything its rule covers", "")
		case len(resp.Input) > 0:
			return "✅ Approved by " + who + " with changes"
		}
		return "✅ Approved by " + who
	case bridge.StateDenied:
		return "❌ Denied by " + who
	case bridge.StateExpired:
		return "⌛ Expired: no one answered in "
	case bridge.StateCancelled:
		if resp.Actor != nil {
			return "🚫 Closed without an answer by " + who
		}
		if s := terminal[resp.Reason]; s != "" {
			if rec.Interaction.Approval == nil {
				return strings.ReplaceAll(s, "did not run", "not answered")
			}
			return s
		}
		return "🚫 Cancelled by "
	case bridge.StateAnswered:
		if !rec.Interaction.LonePlan() {
			return "✅ " + who
		}
		if strings.Contains(string(resp.Answers[rec.Interaction.Questions[0].ID].JSON), bridge.PlanRequestChanges) {
			return "✏️ " + who + " asked for changes"
		}
		return "✅ Plan approved by " + who
	}
	return string(rec.State)
}
