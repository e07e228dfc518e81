package render

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nodbridge/nod/bridge"
)

// ending returns the headline of a closed request: the outcome, and the person
// who caused it.
func ending(r bridge.Record) string {
	i := r.Interaction
	switch {
	case r.Unverified != "":
		return "⚠️ Not verified, and closed"
	case r.Overruled() && r.Completion.Ran == bridge.ReasonAnswered:
		return terminal[bridge.ReasonAnswered]
	case r.Overruled():
		return "⌨️ Ran: " + bridge.ReasonAllowed
	case r.State == bridge.StateAnswered:
		return answered(r)
	case r.State == bridge.StateApproved:
		return approved(r)
	case r.State == bridge.StateDenied:
		return denied(r)
	case r.State == bridge.StateExpired:
		return expired(r)
	case r.State == bridge.StateCancelled:
		return cancelled(r)
	case r.State == bridge.StateSuperseded:
		return "⏩ Replaced by a newer request"
	case i.Kind == bridge.KindNotice:
		return noticeHead(i)[0].Text
	}
	return "⚠️ Not delivered: no one was asked"
}

// by returns " by NAME" for the people who decided, or nothing if nod did.
func by(r bridge.Record, s bridge.State) string {
	if len(r.Votes) > 1 {
		if who := r.Voters(s); len(who) > 1 {
			last := len(who) - 1
			return " by " + Line(strings.Join(who[:last], ", ")+" and "+who[last]) + r.Response.Assurance.With()
		}
	}
	if a := r.Response.Actor; a != nil {
		return " by " + Line(a.Display()) + r.Response.Assurance.With()
	}
	return ""
}

func approved(r bridge.Record) string {
	who := by(r, bridge.StateApproved)
	switch {
	case r.Response.Scope == bridge.ScopeSession:
		return "✅ Approved" + who + longer(r.Interaction, ", also for identical requests in this session", ", also for its rule in this session", " for this session")
	case r.Response.Scope == bridge.ScopeAlways:
		if r.Interaction.Approval.AgentRemembers {
			return "✅ Always approved" + who
		}
		return "✅ Approved" + who + longer(r.Interaction, ", also for all identical requests", ", also for everything its rule covers", "")
	case len(r.Response.Input) > 0:
		return "✅ Approved" + who + " with changes"
	}
	return "✅ Approved" + who
}

func denied(r bridge.Record) string {
	who := by(r, bridge.StateDenied)
	switch {
	case r.Response.Scope == bridge.ScopeAlways:
		return "❌ Always denied" + who
	case r.Response.Stops():
		return "❌ Denied: the session is stopped"
	case r.Response.Respond:
		return "💬 Answered" + who + ", did not run"
	case r.StopsSession():
		return "❌ Denied" + who + ", session stopped"
	case r.Response.Stop:
		return "❌ Denied" + who + ": " + Line(r.Interaction.Agent) + " is told to stop"
	}
	return "❌ Denied" + who
}

// answered returns the headline of an answered request. It names the chosen
// option if there is only one question and a click answers it.
func answered(r bridge.Record) string {
	a := r.Response.Actor
	if a == nil {
		return "✅ Answered with the default"
	}
	name := Line(a.Display())
	switch {
	case r.Interaction.LonePlan() && planApproved(r):
		return "✅ Plan approved by " + name
	case r.Interaction.LonePlan():
		return "✏️ " + name + " asked for changes"
	case chosen(r) != "":
		return "✅ " + name + " chose " + Cut(chosen(r), maxHeadObject, Runes)
	}
	return "✅ " + name + " answered"
}

// chosen returns the option that a person chose, if there is only one question
// and a click answers it.
func chosen(r bridge.Record) string {
	f, lone := r.Interaction.Lone()
	if !lone || !f.OneTap() || r.Interaction.Private || r.Interaction.CompletedView.Hidden() || r.Response.Actor == nil {
		return ""
	}
	if given := f.FieldAnswer(r.Interaction, r.Response.Answers); isOption(f, given) {
		return Line(f.Labels(given))
	}
	return ""
}

// headlined reports whether the headline names the complete answer, so that
// the card does not repeat it.
func headlined(r bridge.Record) bool {
	s := chosen(r)
	return s != "" && Runes(s) <= maxHeadObject
}

func isOption(f bridge.Field, a bridge.Answer) bool {
	return slices.ContainsFunc(f.Options, func(o bridge.Option) bool { return o.Value == a.Text })
}

// ChangesAsked reports whether a person asked for changes to a plan.
func ChangesAsked(r bridge.Record) bool {
	return r.State == bridge.StateAnswered && r.Interaction.LonePlan() && r.Response.Actor != nil && !planApproved(r)
}

func planApproved(r bridge.Record) bool {
	f := r.Interaction.Fields()[0]
	a := f.FieldAnswer(r.Interaction, r.Response.Answers)
	return isOption(f, a) && f.Options[0].Value == a.Text
}

func expired(r bridge.Record) string {
	i := r.Interaction
	after := bridge.Brief(i.Deadline.Sub(i.Created))
	if have, need := r.Count(); have > 0 {
		head := "⌛ Expired: " + strconv.Itoa(have) + " of " + strconv.Itoa(need) + " approved in " + after
		if len(i.Must)+len(i.Requirements) > 0 {
			head += ", without " + Line(r.Missing())
		}
		return head
	}
	return "⌛ Expired: no one answered in " + after
}

func cancelled(r bridge.Record) string {
	if a := r.Response.Actor; a != nil {
		return "🚫 Closed without an answer by " + Line(a.Display())
	}
	by := r.Response.WithdrawnBy
	if by != nil && r.Response.Stop {
		return "🚫 Cancelled: " + Line(by.Display()) + " stopped the session"
	}
	if r.Response.Stop {
		return "🚫 Cancelled: the session is stopped"
	}
	if by != nil {
		return "🚫 Cancelled by " + Line(by.Display())
	}
	if s := terminal[r.Response.Reason]; s != "" {
		if r.Interaction.Kind != bridge.KindApproval { // "dismissed" can mean either
			s = strings.Replace(s, "Not approved", "Not answered", 1)
		}
		return s
	}
	return "🚫 Cancelled by " + Line(r.Interaction.Agent)
}

// terminal holds the headlines of requests that a person settled at the agent's
// terminal or in its editor, by reason.
var terminal = map[string]string{
	bridge.ReasonAllowed: "⌨️ Approved in the terminal", bridge.ReasonAnswered: "⌨️ Answered in the terminal",
	bridge.ReasonDismissed: "⌨️ Not approved in the terminal", bridge.ReasonSettled: "⌨️ Decided in the terminal",
	bridge.ReasonAllowedEditor: "⌨️ Approved in the editor", bridge.ReasonAnsweredEditor: "⌨️ Answered in the editor",
	bridge.ReasonDismissedEditor: "⌨️ Not approved in the editor", bridge.ReasonSettledEditor: "⌨️ Decided in the editor",
	bridge.ReasonInProcess: "⌨️ Answered in the agent's process",
}

// tooLate explains the outcome of a request that was decided at the terminal
// first.
func tooLate(r bridge.Record) string {
	if r.Completion.Ran == bridge.ReasonAnswered {
		return "That came too late: the terminal had been answered."
	}
	return "That came too late: the call had been allowed at the terminal."
}

// refused reports whether a closed approval did not permit its action. nod does
// not know the answer that a person gave at the terminal.
func refused(r bridge.Record) bool {
	if r.Overruled() {
		return false
	}
	if r.State == bridge.StateCancelled && r.Response.Actor == nil && r.Response.WithdrawnBy == nil {
		why := r.Response.Reason
		return terminal[why] == "" || why == bridge.ReasonDismissed || why == bridge.ReasonDismissedEditor
	}
	return r.State != bridge.StateApproved
}

// place returns where a person decided.
func place(platform string) string {
	if platform == bridge.PlatformAPI {
		return "in the console or the API"
	}
	if platform == "" {
		return "in chat"
	}
	return "in " + Platform(platform)
}

// closing returns the text below a closed card: the reason, the coverage, the
// time and platform, whether the agent has the response, and its result.
func closing(v bridge.View) []Block {
	r := v.Record
	if r.Response == nil {
		return nil
	}
	return append(append(why(v), last(r)...), result(r)...)
}

// last states when and where a request was closed, and whether the agent has
// the response. If the agent does not have it, a separate line says so.
func last(r bridge.Record) []Block {
	line := moment(r)
	s := received(r)
	if s != "" {
		line[len(line)-1].Text += " · " + s
	}
	out := []Block{{Kind: Paragraph, Spans: line}}
	if s == "" && responded(r) && !r.Overruled() && r.Completion == nil {
		out = append(out, Para(notPickedUp))
	}
	return out
}

const notPickedUp = "Not picked up yet"

// why returns the reason for the outcome, and the coverage of the response.
func why(v bridge.View) []Block {
	r := v.Record
	resp := r.Response
	var out []Block
	if r.Overruled() {
		late := tooLate(r)
		r.Completion = nil
		out = append(out, Para(strings.TrimLeftFunc(ending(r), func(c rune) bool { return !unicode.IsLetter(c) })+". "+late))
	}
	if s := r.Summary(); s != "" {
		out = append(out, Para(Clean(s)))
	}
	if resp.Reason != "" && terminal[resp.Reason] == "" && !r.Interaction.CompletedView.Hidden() {
		out = append(out, Block{Kind: Quote, Inner: []Block{{Kind: Paragraph, Spans: []Span{
			{Text: reasonLabel(r.State) + ": ", Bold: true}, {Text: Clean(resp.Reason)},
		}}}})
	}
	if v.Newer != "" {
		link := []Span{{Text: LabelOpenNewer, URL: v.Newer}}
		out = append(out, Block{Kind: Paragraph, Spans: link})
	}
	if len(r.Votes) > 1 {
		out = append(out, Para(votes(r)))
	}
	if r.StopsSession() {
		out = append(out, withCommand("New requests of this session are denied. To resume: ", "resume "+Line(r.Interaction.Session)))
	}
	return append(append(out, covered(r)...), change(r)...)
}

// result returns the agent's report about a response.
func result(r bridge.Record) []Block {
	var out []Block
	if c := r.Completion; c != nil {
		if c.Error != "" {
			failed := []Span{{Text: "⚠️ " + Line(r.Interaction.Agent) + " could not use this: ", Bold: true}, {Text: Clean(c.Error)}}
			out = append(out, Block{Kind: Paragraph, Spans: failed})
		}
		if c.Result != "" {
			result := []Span{{Text: "Result", Bold: true}}
			out = append(out, Block{Kind: Paragraph, Spans: result}, Block{Kind: Code, Text: Clean(c.Result)})
		}
	}
	return out
}

func reasonLabel(s bridge.State) string {
	if s == bridge.StateUndeliverable {
		return "Cause"
	}
	return "Reason"
}

// moment states when and where a request was closed.
func moment(r bridge.Record) []Span {
	resp := r.Response
	rest := ""
	if a := resp.Actor; a != nil {
		rest = " · " + place(a.Platform)
	}
	if resp.WithdrawnBy != nil && r.Interaction.Kind == bridge.KindApproval {
		rest += " · did not run"
	}
	if r.State == bridge.StateExpired && r.Interaction.Kind == bridge.KindApproval {
		rest += " · not approved"
	}
	return []Span{{Text: resp.At.UTC().Format("Jan 2, 15:04:05 UTC"), Time: resp.At.Unix(), Exact: true}, {Text: rest}}
}

// votes names everyone who voted.
func votes(r bridge.Record) string {
	var s []string
	if by := r.AssuredVoters(bridge.StateApproved); len(by) > 0 {
		s = append(s, "Approved by "+Line(strings.Join(by, ", ")))
	}
	if by := r.Voters(bridge.StateDenied); len(by) > 0 {
		s = append(s, "denied by "+Line(strings.Join(by, ", ")))
	}
	return strings.Join(s, "; ") + "."
}

// responded reports whether a closed request has a response for the agent.
func responded(r bridge.Record) bool {
	declined := r.State == bridge.StateCancelled && r.Response.Actor != nil
	return declined || r.State == bridge.StateAnswered || r.State == bridge.StateApproved || r.State == bridge.StateDenied
}

// received describes how the agent received the response. It is empty if the
// agent has not received it.
func received(r bridge.Record) string {
	agent := Line(r.Interaction.Agent)
	switch {
	case r.State == bridge.StateCancelled && r.Response.WithdrawnBy != nil && !r.Delivered.IsZero():
		return agent + " was told"
	case !responded(r):
		return ""
	case r.Overruled():
		return ""
	case r.Completion != nil && r.Completion.Ran != "":
		return agent + " ran it"
	case !r.Delivered.IsZero() && r.Interaction.Contested:
		return "sent to " + agent
	case !r.Delivered.IsZero():
		return agent + " was told"
	case !r.Queued.IsZero():
		return agent + " stopped waiting; its session will be told"
	}
	return ""
}
