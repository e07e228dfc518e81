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
	LabelAllow      = "Approve"
	LabelRun        = "Run command"
	LabelScript     = "Run script"
	LabelCall       = "Call tool"
	LabelSession    = "Approve identical requests in session"
	LabelAlways     = "Approve all identical requests"
	LabelDenyAlways = "Always deny"
	LabelDenyStop   = "Deny and stop "
	LabelRespond    = "Answer instead…"
	LabelEdit       = "Edit, then approve…"
	LabelEditAgain  = "Edit again…"
	TitleCheck      = "Check your change"
	LabelApproveNow = "Approve this change"
	LabelCopy       = "Copy command"
	LabelMore       = "More…"
	TitleMore       = "More ways to answer"
	TitleConfirm    = "Confirm"
	LabelAnswer     = "Answer…"
	LabelChoose     = "Choose…"
	LabelOther      = "Something else…"
	LabelSubmit     = "Submit"
	LabelOK         = "OK"
	LabelBack       = "Back"
	LabelNext       = "Next"
	LabelSkip       = "Skip"
	LabelContinue   = "Continue"
	LabelDecline    = "Close for everyone, no answer"
	LabelApprove    = "Approve plan"
	LabelChanges    = "Request changes…"
	LabelFeedback   = "What should change?"
	TitleChanges    = "Request changes"
	NoteWaiting     = "⏳ nod is sending the full text. The buttons appear here once all of it has arrived."
	LabelOtherField = "Something else"
	TitleAnswer     = "Your answer"
	LabelDelegate   = "➡️ Delegate to "
	LabelRead       = "Show full text…"
	TitleRead       = "Full text"
	LabelReview     = "Review…"
	TitleReview     = "Review"
	HeadWithheld    = "⚠️ Cannot be answered here"
	NotePrivate     = "🔒 Private: only people who may answer can open the request."
)

// Labels of approvals that cover more than repeats: everything that a rule
// matches, or everything that the agent remembers.
const (
	labelRuleSession = "Approve this and its rule in session"
	labelRuleAlways  = "Approve this and everything its rule covers"
	labelKeptSession = "Approve for this session"
	labelKeptAlways  = "Always approve"
)

// ReadLabel returns the label of the control that approves or answers a request
// in a dialog with the complete text.
func ReadLabel(i bridge.Interaction) string { return ReadTitle(i) + "…" }

// ReadTitle returns the title of the dialog that ReadLabel opens.
func ReadTitle(i bridge.Interaction) string {
	word := "answer"
	switch {
	case i.Approval != nil:
		word, _, _ = strings.Cut(strings.ToLower(verb(i)), " ")
	case i.LonePlan():
		word = "approve"
	}
	return "Read and " + word
}

// SubmitLabel returns the label of the button that sends a choice.
func SubmitLabel(q bridge.Question) string {
	switch q.Widget {
	case bridge.WidgetActionSelection:
		return LabelContinue
	case bridge.WidgetSelect:
		return LabelOK // the Ask Widget protocol names this button
	}
	return LabelSubmit
}

// asked returns the headline of a pending request: the decision to make.
func asked(r bridge.Record, act Action) []Span {
	i := r.Interaction
	switch {
	case i.Kind == bridge.KindNotice:
		return noticeHead(i)
	case i.Kind == bridge.KindApproval:
		if act.leads {
			return act.Head
		}
		return slices.Concat(act.Head, []Span{{Text: "?" + act.size}})
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

// Standing describes the state of a pending request. It is empty unless the
// request was deferred, escalated or delegated.
func Standing(r bridge.Record) string {
	switch {
	case r.State != bridge.StatePending:
		return ""
	case !r.Queued.IsZero():
		return Line(r.Interaction.Agent) + " stopped waiting; an answer still reaches it."
	}
	var s []string
	asked, apart, untold := askedSince(r)
	if len(apart) > 0 {
		s = append(s, "Notified by a separate card: "+Line(Few(apart))+".")
	}
	if len(asked) > 0 {
		s = append(s, "More people were asked: "+Line(Few(asked))+".")
	}
	if len(untold) > 0 {
		s = append(s, "⚠️ Not notified: "+Line(Few(untold))+".")
	}
	var unfound []string
	for _, u := range r.Interaction.Unfound {
		unfound = append(unfound, u.Name+" ("+u.Why+")")
	}
	if len(unfound) > 0 {
		s = append(s, "⚠️ Not found; nod will look again: "+Line(strings.Join(unfound, ", "))+".")
	}
	return strings.Join(s, " ")
}

// maxFew is the number of names in a list of people on a card.
const maxFew = 15

// Few returns a list of names. It cuts a long list.
func Few(names []string) string {
	if n := len(names) - maxFew; n > 0 {
		return strings.Join(names[:maxFew], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return strings.Join(names, ", ")
}

// askedSince returns who was asked while a request was pending, which
// responders have a separate card on another platform, and who could not be
// told, with the reason.
func askedSince(r bridge.Record) (asked, apart, untold []string) {
	i := r.Interaction
	known := map[string]bool{}
	for _, t := range i.Told {
		if known[t.Name] = true; t.Name == "" {
			continue
		}
		later := t.Step > 0 || slices.Contains(i.Called, t.Name)
		var on []string
		why := t.Why
		for _, n := range t.At {
			if n >= len(i.Destinations) {
				continue
			}
			if failure := r.Failures[n]; failure != "" {
				why = failure
				continue
			}
			if _, posted := r.Messages[n]; posted {
				name := Platform(i.Destinations[n].Platform)
				on = append(on, bridge.Missing(on, []string{name})...)
			}
		}
		switch name := i.NameOf(t.Name); {
		case len(on) > 0 && !later:
			apart = append(apart, name+" ("+strings.Join(on, ", ")+")")
		case len(on) > 0:
			asked = append(asked, name+" ("+strings.Join(on, ", ")+")")
		case why != "":
			untold = append(untold, name+" ("+why+")")
		case later:
			asked = append(asked, name)
		}
	}
	for _, name := range i.Called {
		if !known[name] {
			asked = append(asked, i.NameOf(name))
		}
	}
	return asked, apart, untold
}

// Elsewhere names the other places where nod asks if one message does not show
// everything. It returns an empty string if there are none.
func Elsewhere(v bridge.View) string {
	var on []string
	for n, d := range v.Record.Interaction.Destinations {
		if name := Platform(d.Platform); n != v.Destination && v.Record.Failures[n] == "" && !slices.Contains(on, name) {
			on = append(on, name)
		}
	}
	if v.Console {
		on = append(on, "the console")
	}
	if len(on) == 0 {
		return ""
	}
	return "answer it in " + strings.Join(on, " or ") + "."
}

// Platform returns the display name of a platform.
func Platform(name string) string {
	name = Line(name)
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Extra is a control that does not answer the request.
type Extra struct {
	Label string
	Token string
}

// maxExtras is the maximum number of extra controls on a card: one row on every
// platform.
const maxExtras = 5

// Extras returns the controls that do not answer the request.
func Extras(v bridge.View) []Extra {
	out := append(Snooze(v), Delegates(v)...)
	return out[:min(len(out), maxExtras)]
}

// ExtrasInMore reports whether the controls that do not answer the request are
// behind [LabelMore]. Questions have them on the card.
func ExtrasInMore(v bridge.View) bool { return v.Record.Interaction.Kind == bridge.KindApproval }

// HasMore reports whether an approval has anything behind [LabelMore].
func HasMore(i bridge.Interaction) bool { return len(i.More()) > 0 || i.CanWait() }

// Snooze returns the control that postpones reminders, if the card offers it.
func Snooze(v bridge.View) []Extra {
	i := v.Record.Interaction
	if i.Snooze == 0 {
		return nil
	}
	return []Extra{{snoozeLabel(i), v.Token(bridge.ActionSnooze, 0, 0)}}
}

// Delegates returns the controls that delegate to a person. Groups have none.
func Delegates(v bridge.View) []Extra {
	var out []Extra
	for n, name := range v.Record.Interaction.HandOver {
		if !strings.HasPrefix(name, bridge.GroupMark) {
			out = append(out, Extra{Line(LabelDelegate + v.Record.Interaction.NameOf(name)), v.Token(bridge.ActionHandOver, 0, n)})
		}
	}
	return out
}

// snoozeLabel returns the label of the control that postpones reminders.
func snoozeLabel(i bridge.Interaction) string {
	return "⏰ Remind me in " + bridge.Brief(time.Duration(i.Snooze))
}

// Notes returns the lines below a pending card: its state, and why people
// cannot answer it on the card.
func Notes(v bridge.View) []string {
	var notes []string
	if s := Standing(v.Record); s != "" {
		notes = append(notes, s)
	}
	if n := v.Record.Joined; n > 0 {
		notes = append(notes, strconv.Itoa(n+1)+" identical requests wait for this answer.")
	}
	if n := v.Record.Interaction.Redacted; n > 0 {
		notes = append(notes, "🔒 Redacted credentials: "+strconv.Itoa(n)+". The digest covers the original request.")
		if v.Record.Interaction.RedactedCommand {
			notes = append(notes, "🔒 Part of the command is redacted: each [redacted …] states the kind and the length. Approving requires a typed confirmation.")
		}
	}
	if s := v.Record.Interaction.StepUp; s != "" {
		notes = append(notes, "🔑 Requires a "+string(s)+". The page to sign shows the code "+v.Record.Interaction.SignCode()+".")
	}
	if s := counted(v.Record); s != "" {
		notes = append(notes, s)
	}
	if v.Waiting && !v.Withheld {
		notes = append(notes, NoteWaiting)
	}
	return notes
}

// counted describes the votes on a request with a quorum, and the votes that
// are still required. It is empty if one approval is enough.
func counted(r bridge.Record) string {
	i := r.Interaction
	if i.Quorum < 2 && len(i.Must) == 0 && len(i.Requirements) < 2 && !i.DenyCounts {
		return ""
	}
	have, need := r.Count()
	s := strings.Repeat("●", min(have, need)) + strings.Repeat("○", max(0, need-have)) + " " +
		strconv.Itoa(have) + " of " + strconv.Itoa(need) + " approved"
	if by := r.AssuredVoters(bridge.StateApproved); len(by) > 0 {
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
	if s := Risk(i); s != "" {
		text += " " + strings.TrimLeft(s, "⚠️‼ ") + " risk."
	}
	text += " Asked by " + agent
	if i.Requester != "" {
		text += " on behalf of " + requesterName(i)
	}
	return Cut(text+".", 200, Runes)
}

// headText returns a headline as text.
func headText(head []Span) string {
	if len(head) == 1 {
		return head[0].Text
	}
	n := 0
	for _, s := range head {
		n += len(s.Text)
	}
	var b strings.Builder
	b.Grow(n)
	for _, s := range head {
		b.WriteString(s.Text)
	}
	return b.String()
}
