package render

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Risk returns the risk level of an approval if it is high, critical or one of
// the administrator's own levels.
func Risk(i bridge.Interaction) string {
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

// facts returns the lines between the headline and the agent's text.
func facts(i bridge.Interaction, act Action) []Block {
	var spans []Span
	add := func(label, value string, code bool) {
		if len(spans) > 0 {
			spans = append(spans, Span{Text: "\n"})
		}
		spans = append(spans, Span{Text: label + "  ", Bold: true}, Span{Text: value, Code: code})
	}
	if s := lookalikes(act.names); s != "" {
		add("Look-alike letters", s, false)
	}
	if s := Risk(i); s != "" {
		if i.RuleReason != "" {
			s += ": " + Line(i.RuleReason)
		}
		add("Risk", s, false)
	}
	for t := range i.Texts() {
		if t.Use.Has(bridge.TextFact) && *t.Value != "" && !inFrom(i, act, *t.Value) {
			add(factLabel(t.Path), exactName(*t.Value), true)
		}
	}
	if act.Program != "" {
		add("Program", exactName(act.Program), true)
	}
	if act.Stdin != "" {
		add("Stdin", exactName(act.Stdin)+", whose content is not shown", false)
	}
	if len(spans) == 0 {
		return nil
	}
	return []Block{{Kind: Paragraph, Spans: spans}}
}

// inFrom reports whether the line that says who asks contains a fact.
func inFrom(i bridge.Interaction, act Action, fact string) bool {
	return slices.Contains(act.Origin, fact) || fact == location(i, act) && fitsHead(fact, maxHeadObject)
}

// factLabel returns the label of a text with a path such as approval.where.
func factLabel(path string) string {
	name := strings.ReplaceAll(path[strings.LastIndex(path, ".")+1:], "_", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}

// from returns the line that says who asks: the agent, where it runs, its
// session, and the requester. It takes the parts that the request omits from
// the reports of the session, if any.
func from(i bridge.Interaction, act Action, session *bridge.SessionView) string {
	var st bridge.SessionStatus
	if session != nil {
		st = session.Status
	}
	s := []string{Line(i.Agent)}
	host := false
	for n, o := range act.Origin {
		if n == 0 && strings.HasPrefix(o, "on ") {
			s[0] += " " + o
			host = true
			continue
		}
		s = append(s, o)
	}
	if !host && st.Host != "" {
		s[0] += " on " + reported(st.Host)
	}
	if name := st.Subagents[i.Turn]; name != "" && i.Turn != "" {
		s = append(s, "subagent "+reported(name))
	}
	if where := location(i, act); where != "" && fitsHead(where, maxHeadObject) {
		s = append(s, where)
	} else if where == "" && len(act.Origin) == 0 && st.Folder != "" {
		s = append(s, reported(st.Folder))
	}
	if st.Branch != "" {
		s = append(s, "branch "+reported(st.Branch))
	}
	switch {
	case st.Title != "":
		s = append(s, "session “"+reported(st.Title)+"”")
	case i.Session != "":
		s = append(s, "session "+Line(i.Session))
	}
	if tool := toolOf(i); tool != "" && !names(act.Head, tool) {
		s = append(s, "tool "+Line(tool))
	}
	if i.Requester != "" {
		s = append(s, "on behalf of "+requesterName(i))
	}
	if i.Round > 1 {
		s = append(s, "round "+strconv.Itoa(i.Round))
	}
	if i.Kind == bridge.KindNotice {
		s = append(s, "no answer needed")
	}
	return strings.Join(s, " · ")
}

// requesterName returns the name of the requester, with a mark if the config
// does not have that person.
func requesterName(i bridge.Interaction) string {
	name := Line(i.NameOf(i.Requester))
	if i.Stranger {
		name += " (not in the config)"
	}
	return name
}

// maxOrigin is the maximum length, in characters, of a part of the line that
// says who asks, if the part comes from a report.
const maxOrigin = 60

func reported(s string) string { return Cut(Line(s), maxOrigin, Runes) }

// toolOf returns the tool of a request: the tool of the approval, or the tool
// that asks.
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

// MaxFrom is the maximum length of the line that says who asks, in characters.
// Each part of the line has a limit, so it is never cut.
const MaxFrom = 1000

// location returns the location of an approval unless the origin names it.
func location(i bridge.Interaction, act Action) string {
	if i.Approval == nil || slices.Contains(act.Origin, i.Approval.Where) {
		return ""
	}
	return i.Approval.Where
}

// maxWaiting is the maximum number of people that a card names as still
// required.
const maxWaiting = 5

// Due returns the line with the deadline and the people who can still answer,
// with the mentions of the card.
func Due(r bridge.Record, mentions []bridge.Mention) []Span {
	i := r.Interaction
	voted := func(person string) bool {
		return slices.ContainsFunc(r.Votes, func(v bridge.Vote) bool { return v.Actor.Person == person && person != "" })
	}
	left := slices.DeleteFunc(slices.Clone(mentions), func(m bridge.Mention) bool { return voted(m.Person) })
	n := namer{left: left, of: i.Placement, out: []Span{{Text: "Expires "}, {Text: Moment(i.Deadline), Time: i.Deadline.Unix()}}}
	have, need := r.Count()
	needed := max(need-have, 1)
	approvals := plural(needed, "approval")
	if have > 0 {
		approvals = plural(needed, "more approval")
	}
	who := waitsOn(r)
	switch {
	case len(i.Requirements) > 1: // the note on the votes names the missing approvals
	case len(i.Groups) > 0:
		if i.Kind == bridge.KindApproval {
			n.text(" · " + approvals + " needed from ")
		} else {
			n.text(" · waiting for ")
		}
		n.some(who)
		n.names(i.Groups, true, ", ")
	case len(who) > maxWaiting:
		n.text(" · waiting for one of " + strconv.Itoa(len(who)) + " people")
	case len(who) > 0 && needed == 1:
		n.text(" · waiting for ")
		n.names(who, false, " or ")
	case len(who) > 0:
		n.text(" · " + approvals + " needed from ")
		n.names(who, false, ", ")
	}
	n.rest()
	return n.out
}

// waitsOn returns the people who can still approve, required approvers first.
func waitsOn(r bridge.Record) []string {
	i := r.Interaction
	var all, out []string
	for _, name := range i.Must {
		if !strings.HasPrefix(name, bridge.GroupMark) {
			all = append(all, name)
		}
	}
	for _, a := range i.Responders {
		all = append(all, a.Person)
	}
	for _, name := range all {
		voted := slices.ContainsFunc(r.Votes, func(v bridge.Vote) bool { return v.Actor.Person == name })
		if name != "" && !voted && !slices.Contains(i.Requesters, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Moment returns a time with its date, for platforms that cannot show local
// times.
func Moment(t time.Time) string { return t.UTC().Format("Jan 2, 15:04 UTC") }
