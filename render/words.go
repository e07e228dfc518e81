package render

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Labels of controls.
const (
	LabelDeny       = "Deny"
	LabelDenyReason = "Deny with a reason…"
	LabelAllow      = "Allow"
	LabelRun        = "Run command"
	LabelScript     = "Run script"
	LabelCall       = "Call tool"
	LabelSession    = "Allow for this session"
	LabelAlways     = "Always allow"
	LabelDenyAlways = "Always deny"
	LabelDenyStop   = "Deny and stop "
	LabelEdit       = "Edit first…"
	LabelAnswer     = "Answer…"
	LabelChoose     = "Choose…"
	LabelOther      = "Something else…"
	LabelSubmit     = "Submit"
	LabelDone       = "Done"
	LabelBack       = "Back"
	LabelNext       = "Next"
	LabelSkip       = "Skip"
	LabelContinue   = "Continue"
	LabelDecline    = "Decline"
	LabelApprove    = "Approve plan"
	LabelChanges    = "Request changes…"
	LabelFeedback   = "What should change?"
	TitleChanges    = "Request changes"
	NoteReadOnly    = "🔇 Read-only here. /" + bridge.CommandName + " unmute lets this channel answer again."
	NoteWaiting     = "⏳ nod is sending the full text. The buttons appear here once all of it has arrived."
	LabelOtherField = "Something else"
	TitleAnswer     = "Your answer"
)

// SubmitLabel returns the label of the button that sends a choice.
func SubmitLabel(q bridge.Question) string {
	if q.Widget == bridge.WidgetActionSelection {
		return LabelContinue
	}
	return LabelSubmit
}

// asked is the headline of a pending request: what people decide.
func asked(r bridge.Record, act Action) []Span {
	i := r.Interaction
	switch {
	case i.Kind == bridge.KindNotice:
		return noticeHead(i)
	case i.Kind == bridge.KindApproval:
		if act.leads {
			return act.Head
		}
		return append(slices.Clone(act.Head), Span{Text: "?"})
	case i.LonePlan():
		return []Span{{Text: "Approve the plan?"}}
	}
	fields := i.Fields()
	if len(fields) > 1 {
		return []Span{{Text: "Fill in " + strconv.Itoa(len(fields)) + " fields"}}
	}
	if len(fields) == 1 && fields[0].Header != "" {
		return []Span{{Text: Line(fields[0].Header)}}
	}
	return []Span{{Text: Line(i.Agent) + " asks"}}
}

func noticeHead(i bridge.Interaction) []Span {
	return []Span{{Text: "ℹ️ Notice from " + Line(i.Agent)}}
}

// ending is the headline of a closed request: how it ended, and by whom.
func ending(r bridge.Record) string {
	i := r.Interaction
	switch {
	case r.Unverified != "":
		return "⚠️ Not verified, and closed"
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
			return " by " + Line(strings.Join(who[:last], ", ")+" and "+who[last])
		}
	}
	if a := r.Response.Actor; a != nil {
		return " by " + Line(a.Display())
	}
	return ""
}

func approved(r bridge.Record) string {
	who := by(r, bridge.StateApproved)
	switch {
	case r.Response.Scope == bridge.ScopeSession:
		return "✅ Approved" + who + " for this session"
	case r.Response.Scope == bridge.ScopeAlways:
		return "✅ Always approved" + who
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
	case r.Response.Stop:
		return "❌ Denied" + who + ", " + Line(r.Interaction.Agent) + " stopped"
	}
	return "❌ Denied" + who
}

// answered names the option that a person chose if there was only one question.
func answered(r bridge.Record) string {
	a := r.Response.Actor
	if a == nil {
		return "✅ Answered with the default"
	}
	name := Line(a.Display())
	f, lone := r.Interaction.Lone()
	switch {
	case r.Interaction.LonePlan() && planApproved(r):
		return "✅ Plan approved by " + name
	case r.Interaction.LonePlan():
		return "✏️ " + name + " asked for changes"
	case lone && f.OneTap() && !r.Interaction.CompletedView.Hidden():
		if given := f.FieldAnswer(r.Interaction, r.Response.Answers); isOption(f, given) {
			return "✅ " + name + " chose " + Cut(Line(f.Labels(given)), maxHeadObject, Runes)
		}
	}
	return "✅ " + name + " answered"
}

func isOption(f bridge.Field, a bridge.Answer) bool {
	return slices.ContainsFunc(f.Options, func(o bridge.Option) bool { return o.Value == a.Text })
}

func planApproved(r bridge.Record) bool {
	f := r.Interaction.Fields()[0]
	a := f.FieldAnswer(r.Interaction, r.Response.Answers)
	return isOption(f, a) && f.Options[0].Value == a.Text
}

func expired(r bridge.Record) string {
	i := r.Interaction
	after := bridge.Brief(i.Deadline.Sub(i.Created))
	if n := r.Approvals(); n > 0 {
		return "⌛ Expired: " + strconv.Itoa(n) + " of " + strconv.Itoa(max(i.Quorum, 1)) + " approved in " + after
	}
	return "⌛ Expired: no one answered in " + after
}

func cancelled(r bridge.Record) string {
	if a := r.Response.Actor; a != nil {
		return "🚫 " + Line(a.Display()) + " declined to answer"
	}
	if by := r.Response.WithdrawnBy; by != nil {
		return "🚫 Withdrawn by " + Line(by.Display())
	}
	return "🚫 Withdrawn by " + Line(r.Interaction.Agent)
}

// place returns where a person decided.
func place(platform string) string {
	if platform == bridge.PlatformAPI {
		return "in the console or the API"
	}
	name := Line(platform)
	if name == "" {
		return "in chat"
	}
	return "in " + strings.ToUpper(name[:1]) + name[1:]
}

// closing returns the text below a closed card: why it ended so, what it
// covers, when and where, and whether the agent has the response.
func closing(r bridge.Record) []Block {
	resp := r.Response
	if resp == nil {
		return nil
	}
	var out []Block
	if s := r.Summary(); s != "" {
		out = append(out, Para(Clean(s)))
	}
	if resp.Reason != "" && !r.Interaction.CompletedView.Hidden() {
		out = append(out, Block{Kind: Quote, Inner: []Block{{Kind: Paragraph, Spans: []Span{
			{Text: reasonLabel(r.State) + ": ", Bold: true}, {Text: Clean(resp.Reason)},
		}}}})
	}
	if len(r.Votes) > 1 {
		out = append(out, Para(votes(r)))
	}
	out = append(append(out, covered(r)...), change(r)...)
	out = append(out, Block{Kind: Paragraph, Spans: last(r)})
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

// last is the last line of a closed card: when, where, and whether the agent
// has the response.
func last(r bridge.Record) []Span {
	resp := r.Response
	rest := ""
	if a := resp.Actor; a != nil {
		rest = " · " + place(a.Platform)
	}
	if r.State == bridge.StateApproved && resp.Scope == bridge.ScopeOnce {
		rest += " · once"
	}
	switch r.State {
	case bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied:
		rest += " · " + receipt(r)
	case bridge.StateExpired:
		if r.Interaction.Kind == bridge.KindApproval {
			rest += " · no one denied it"
		}
	}
	return []Span{{Text: resp.At.UTC().Format("Jan 2, 15:04:05 UTC"), Time: resp.At.Unix(), Exact: true}, {Text: rest}}
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

// receipt reports whether the agent has received the response.
func receipt(r bridge.Record) string {
	agent := Line(r.Interaction.Agent)
	switch {
	case !r.Delivered.IsZero():
		return agent + " has the answer"
	case !r.Queued.IsZero():
		return agent + " stopped waiting; its session gets the answer"
	case r.Unawaited:
		return agent + " is no longer waiting; it gets the answer when it asks again"
	}
	return agent + " has not picked up the answer yet"
}

// Standing describes the state of a pending request. It is empty unless the
// request was deferred, escalated or delegated.
func Standing(r bridge.Record) string {
	switch {
	case r.State != bridge.StatePending:
		return ""
	case !r.Queued.IsZero():
		return Line(r.Interaction.Agent) + " stopped waiting; an answer still reaches it."
	case !r.Escalated.IsZero() && r.Interaction.Escalation != nil:
		return "More people were asked: " + Line(r.Interaction.Escalation.Route) + "."
	}
	if len(r.Interaction.Called) > 0 {
		return "More people were asked: " + Line(strings.Join(r.Interaction.Called, ", ")) + "."
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
		notes = append(notes, strconv.Itoa(n+1)+" identical requests wait for this answer.")
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
	have, need := r.Approvals(), max(i.Quorum, 1)
	s := strings.Repeat("●", min(have, need)) + strings.Repeat("○", max(0, need-have)) + " " +
		strconv.Itoa(have) + " of " + strconv.Itoa(need) + " approved"
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

// notice returns the line of a push notification: the headline, the risk and
// who asks.
func notice(r bridge.Record, head []Span, subject string) string {
	i := r.Interaction
	agent := Line(i.Agent)
	text := Line(headText(head))
	switch {
	case i.Kind == bridge.KindNotice:
		return Cut(agent+": "+subject, 200, Runes)
	case r.State != bridge.StatePending:
		return Cut(text+": "+subject, 200, Runes)
	case i.Kind != bridge.KindApproval:
		return Cut(agent+" asks: "+subject, 200, Runes)
	}
	if s := risk(i); s != "" {
		text += " " + strings.TrimLeft(s, "⚠️‼ ") + " risk."
	}
	text += " Asked by " + agent
	if i.Requester != "" {
		text += " for " + Line(i.Requester)
	}
	return Cut(text+".", 200, Runes)
}

// headText returns a headline as text.
func headText(head []Span) string {
	var b strings.Builder
	for _, s := range head {
		b.WriteString(s.Text)
	}
	return b.String()
}

// risk returns the risk level of an approval if it is high, critical or one of
// the operator's own levels.
func risk(i bridge.Interaction) string {
	switch level := strings.ToLower(Line(i.Risk)); level {
	case "", "low", "medium", "moderate", "normal":
		return ""
	case "high":
		return "⚠️ High"
	case "critical":
		return "‼️ Critical"
	}
	return "⚠️ " + Line(i.Risk)
}

// facts returns the lines between the headline and what the agent says.
func facts(i bridge.Interaction, act Action) []Block {
	var spans []Span
	add := func(label, value string, code bool) {
		if len(spans) > 0 {
			spans = append(spans, Span{Text: "\n"})
		}
		spans = append(spans, Span{Text: label + "  ", Bold: true}, Span{Text: value, Code: code})
	}
	if s := risk(i); s != "" {
		if i.Rule != "" {
			s += ": rule " + Line(i.Rule)
		}
		add("Risk", s, false)
	}
	if act.Program != "" {
		add("Program", Clean(act.Program), true)
	}
	if len(spans) == 0 {
		return nil
	}
	return []Block{{Kind: Paragraph, Spans: spans}}
}

// from says who asks: the agent, where it runs, its session, and for whom.
func from(i bridge.Interaction, act Action) string {
	s := []string{Line(i.Agent)}
	for n, o := range act.Origin {
		if n == 0 && strings.HasPrefix(o, "on ") {
			s[0] += " " + o
			continue
		}
		s = append(s, o)
	}
	if i.Approval != nil && i.Approval.Where != "" && !slices.Contains(act.Origin, Line(i.Approval.Where)) {
		s = append(s, Line(i.Approval.Where))
	}
	if i.Session != "" {
		s = append(s, "session "+Line(i.Session))
	}
	if tool := toolOf(i); tool != "" && !names(act.Head, tool) {
		s = append(s, "tool "+Line(tool))
	}
	if i.Requester != "" {
		s = append(s, "for "+Line(i.Requester))
	}
	if i.Round > 1 {
		s = append(s, "round "+strconv.Itoa(i.Round))
	}
	if i.Kind == bridge.KindNotice {
		s = append(s, "no answer needed")
	}
	return strings.Join(s, " · ")
}

// toolOf returns the tool of a request: that of the approval, or the one that
// asks.
func toolOf(i bridge.Interaction) string {
	if i.Approval != nil && i.Approval.Tool != "" {
		return i.Approval.Tool
	}
	return i.ToolName
}

// names reports whether a headline names a tool.
func names(head []Span, tool string) bool {
	return slices.ContainsFunc(head, func(s Span) bool { return s.Code && s.Text == Line(tool) })
}

// maxWaiting is the number of people whom a card names as those it waits for.
const maxWaiting = 5

// Due returns the line with the deadline and the people who can answer.
func Due(i bridge.Interaction) []Span {
	out := []Span{{Text: "Expires "}, {Text: Moment(i.Deadline), Time: i.Deadline.Unix()}}
	needed := max(i.Quorum, 1)
	var who []string
	for _, r := range i.Responders {
		if r.Person != "" && !slices.Contains(who, r.Person) {
			who = append(who, r.Person)
		}
	}
	groups := Line(strings.Join(i.Groups, ", "))
	switch {
	case len(i.Requirements) > 1: // the note on the votes names what is missing
	case groups != "" && i.Kind == bridge.KindApproval:
		out = append(out, Span{Text: " · " + plural(needed, "approval") + " needed from " + groups})
	case groups != "":
		out = append(out, Span{Text: " · waiting for " + groups})
	case len(who) > maxWaiting:
		out = append(out, Span{Text: " · waiting for one of " + strconv.Itoa(len(who)) + " people"})
	case len(who) > 0 && needed == 1:
		out = append(out, Span{Text: " · waiting for " + Line(oneOf(who))})
	case len(who) > 0:
		out = append(out, Span{Text: " · " + plural(needed, "approval") + " needed from " + Line(strings.Join(who, ", "))})
	}
	return out
}

// oneOf joins names as alternatives.
func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Moment returns a time with its date, for platforms and places that do not
// show local times.
func Moment(t time.Time) string { return t.UTC().Format("Jan 2, 15:04 UTC") }
