package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Labels of controls.
const (
	LabelDeny       = "Deny"
	LabelDenyReason = "Deny with a reason…"
	LabelOnce       = "Allow once"
	LabelSession    = "Allow for this session"
	LabelAlways     = "Always allow"
	LabelDenyAlways = "Always deny"
	LabelDenyStop   = "Deny and stop the agent"
	LabelEdit       = "Edit, then allow…"
	LabelAnswer     = "Answer…"
	LabelChoose     = "Choose…"
	LabelOther      = "Other…"
	LabelOK         = "OK"
	LabelSubmit     = "Submit"
	LabelDone       = "Done"
	LabelBack       = "Back"
	LabelNext       = "Next"
	LabelSkip       = "Skip"
	LabelContinue   = "Continue"
	LabelDecline    = "Decline"
	LabelApprove    = "Approve"
	LabelChanges    = "Request changes…"
	LabelFeedback   = "What has to change?"
	TitleChanges    = "Request changes"
	NoteReadOnly    = "🔇 Read-only here. /" + bridge.CommandName + " unmute lets this channel answer again."
	NoteWaiting     = "⏳ nod is sending the full text. The buttons appear here once all of it has arrived."
	LabelOtherField = "Something else"
	TitleAnswer     = "Your answer"
)

// SubmitLabel returns the label of the button that sends a choice.
func SubmitLabel(q bridge.Question) string {
	switch q.Widget {
	case bridge.WidgetSelect:
		return LabelOK
	case bridge.WidgetActionSelection:
		return LabelContinue
	}
	return LabelSubmit
}

func headline(r bridge.Record) (icon, text string) {
	if r.Interaction.Kind == bridge.KindNotice {
		return "📣", "For your information"
	}
	if r.Unverified != "" {
		return "⚠️", "Not verified, and closed"
	}
	switch r.State {
	case bridge.StatePending:
		if r.Interaction.Kind == bridge.KindApproval {
			return "🔐", "Permission wanted"
		}
		return "💬", "Question"
	case bridge.StateAnswered:
		return "✅", "Answered"
	case bridge.StateApproved:
		return approved(*r.Response)
	case bridge.StateDenied:
		return denied(*r.Response)
	case bridge.StateExpired:
		return "⌛", "Expired, nobody answered"
	case bridge.StateCancelled:
		return cancelled(*r.Response)
	case bridge.StateSuperseded:
		return "🔁", "Asked again below"
	}
	return "⚠️", "Could not be delivered"
}

func approved(r bridge.Response) (icon, text string) {
	switch r.Scope {
	case bridge.ScopeSession:
		return "✅", "Approved for this session"
	case bridge.ScopeAlways:
		return "✅", "Always approved"
	}
	if len(r.Input) > 0 {
		return "✅", "Approved with changes"
	}
	return "✅", "Approved once"
}

func denied(r bridge.Response) (icon, text string) {
	switch {
	case r.Scope == bridge.ScopeAlways:
		return "⛔", "Always denied"
	case r.Stop:
		return "🛑", "Denied, and the agent stopped"
	}
	return "⛔", "Denied"
}

func cancelled(r bridge.Response) (icon, text string) {
	if r.Actor != nil {
		return "🚫", "Declined"
	}
	if by := r.WithdrawnBy; by != nil {
		return "🚫", "Withdrawn by " + Line(by.Display())
	}
	return "🚫", "Withdrawn by the agent"
}

// closing returns the text below a closed card: who decided, where, when and
// why, and whether the agent has the response.
func closing(r bridge.Record) []Block {
	resp := r.Response
	if resp == nil {
		return nil
	}
	var out []Block
	_, head := headline(r)
	when := Span{Text: resp.At.UTC().Format("15:04:05 UTC"), Time: resp.At.Unix()}
	if a := resp.Actor; a != nil {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{
			{Text: head + " by "}, {Text: Line(a.Display()), Bold: true}, {Text: " on " + Line(a.Platform) + " at "}, when,
		}})
	} else {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: head + " at "}, when}})
	}
	if len(r.Votes) > 1 {
		out = append(out, Para(votes(r)))
	}
	if s := r.Summary(); s != "" {
		out = append([]Block{Para(Clean(s))}, out...)
	}
	out = append(append(out, covered(r)...), change(r)...)
	if resp.Reason != "" && !r.Interaction.CompletedView.Hidden() {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: "Reason: ", Bold: true}, {Text: Clean(resp.Reason)}}})
	}
	if r.State == bridge.StateAnswered || r.State == bridge.StateApproved || r.State == bridge.StateDenied {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: delivery(r), Italic: true}}})
	}
	if c := r.Completion; c != nil {
		if c.Error != "" {
			out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: "⚠️ The agent could not use this: ", Bold: true}, {Text: Clean(c.Error)}}})
		}
		if c.Result != "" {
			out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: "Result", Bold: true}}}, Block{Kind: Code, Text: Clean(c.Result)})
		}
	}
	return out
}

// votes names everyone who voted.
func votes(r bridge.Record) string {
	var s []string
	if by := r.Voters(bridge.StateApproved); len(by) > 0 {
		s = append(s, "Approved by "+Line(strings.Join(by, ", ")))
	}
	if by := r.Voters(bridge.StateDenied); len(by) > 0 {
		s = append(s, "denied by "+Line(strings.Join(by, ", ")))
	}
	return strings.Join(s, "; ") + "."
}

// delivery returns a sentence on whether the agent has received the response.
func delivery(r bridge.Record) string {
	switch {
	case !r.Delivered.IsZero():
		return "The agent has received this."
	case !r.Queued.IsZero():
		return "The agent had moved on. Its session will receive this."
	case r.Unawaited:
		return "The agent was no longer waiting. It receives this when it asks again."
	}
	return "The agent has not picked this up yet."
}

// Standing describes the state of a pending request. It is empty unless the
// request was deferred, escalated or delegated.
func Standing(r bridge.Record) string {
	switch {
	case r.State != bridge.StatePending:
		return ""
	case !r.Queued.IsZero():
		return "📥 The agent has moved on. An answer still reaches it."
	case !r.Escalated.IsZero() && r.Interaction.Escalation != nil:
		return "📣 Nobody answered in time, so more people are asked: " + Line(r.Interaction.Escalation.Route) + "."
	}
	if len(r.Interaction.Called) > 0 {
		return "📣 Also asked: " + Line(strings.Join(r.Interaction.Called, ", ")) + "."
	}
	return ""
}

// Extra is a control that does not answer the request.
type Extra struct {
	Label string
	Token string
}

// maxExtras is the largest number of extra controls on a card: one row on every
// platform.
const maxExtras = 5

// Extras returns the controls of a card that do not answer the request.
func Extras(v bridge.View) []Extra {
	i := v.Record.Interaction
	var out []Extra
	if i.Snooze > 0 {
		out = append(out, Extra{snoozeLabel(i), v.Token(bridge.ActionSnooze, 0, 0)})
	}
	for n := range i.HandOver {
		out = append(out, Extra{Line("➡️ Hand over to " + i.HandOver[n]), v.Token(bridge.ActionHandOver, 0, n)})
	}
	return out[:min(len(out), maxExtras)]
}

// snoozeLabel returns the label of the control that reminds later.
func snoozeLabel(i bridge.Interaction) string {
	return "⏰ Remind me in " + bridge.Brief(time.Duration(i.Snooze))
}

// Notes returns the lines below an open card: its state, and why it cannot be
// answered there.
func Notes(v bridge.View) []string {
	var notes []string
	if s := Standing(v.Record); s != "" && len(v.Batch) == 0 {
		notes = append(notes, s)
	}
	if n := v.Record.Joined; n > 0 && len(v.Batch) == 0 {
		notes = append(notes, "🔗 "+strconv.Itoa(n+1)+" identical requests wait for this one answer.")
	}
	if n := v.Record.Interaction.Redacted; n > 0 && len(v.Batch) == 0 {
		notes = append(notes, "🔒 Redacted credentials: "+strconv.Itoa(n)+". The digest covers the original request.")
		if v.Record.Interaction.RedactedCommand {
			notes = append(notes, "🔒 Part of the command is redacted: each [redacted …] shows what and how long. Approving requires a typed confirmation.")
		}
	}
	if s := counted(v.Record); s != "" && len(v.Batch) == 0 {
		notes = append(notes, s)
	}
	switch {
	case v.Waiting:
		notes = append(notes, NoteWaiting)
	case v.ReadOnly:
		notes = append(notes, NoteReadOnly)
	}
	return notes
}

// counted describes the votes on a request with a quorum, and what is still
// required. It is empty if a single approval is enough.
func counted(r bridge.Record) string {
	i := r.Interaction
	if i.Quorum < 2 && len(i.Must) == 0 && len(i.Requirements) < 2 && !i.DenyCounts {
		return ""
	}
	s := "👥 " + strconv.Itoa(r.Approvals()) + " of " + strconv.Itoa(max(i.Quorum, 1)) + " have approved"
	if by := r.Voters(bridge.StateApproved); len(by) > 0 {
		s += ": " + Line(strings.Join(by, ", "))
	}
	if m := r.Missing(); m != "" {
		s += ". Still needed: " + Line(m)
	}
	if by := r.Voters(bridge.StateDenied); len(by) > 0 {
		s += ". Denied by " + Line(strings.Join(by, ", "))
	}
	return s + "."
}

// notice returns the line of a push notification: the agent, the subject and,
// once closed, the outcome.
func notice(r bridge.Record, subject string) string {
	i := r.Interaction
	agent := Line(i.Agent)
	if i.Kind == bridge.KindNotice {
		return Cut(agent+": "+subject, 200, Runes)
	}
	if r.State == bridge.StatePending {
		if i.Kind == bridge.KindApproval {
			return Cut(fmt.Sprintf("%s wants permission: %s", agent, subject), 200, Runes)
		}
		return Cut(fmt.Sprintf("%s asks: %s", agent, subject), 200, Runes)
	}
	_, head := headline(r)
	by := ""
	if r.Response != nil && r.Response.Actor != nil {
		by = " by " + Line(r.Response.Actor.Display())
	}
	return Cut(fmt.Sprintf("%s%s: %s", head, by, subject), 200, Runes)
}

func from(i bridge.Interaction) string {
	s := []string{Line(i.Agent)}
	if i.Session != "" {
		s = append(s, "session "+Line(i.Session))
	}
	tool := i.ToolName
	if i.Approval != nil && i.Approval.Tool != "" {
		tool = i.Approval.Tool
	}
	if tool != "" {
		s = append(s, "tool "+Line(tool))
	}
	if i.Approval != nil && i.Approval.Where != "" && !strings.Contains(i.Prompt, i.Approval.Where) {
		s = append(s, "in "+Line(i.Approval.Where))
	}
	if i.Requester != "" {
		s = append(s, "for "+Line(i.Requester))
	}
	if i.Round > 1 {
		s = append(s, "round "+strconv.Itoa(i.Round))
	}
	return strings.Join(s, " · ")
}

// Until returns the deadline, for platforms that do not show local times.
func Until(t time.Time) string { return t.UTC().Format("15:04 UTC") }
