package bridge

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/nodbridge/nod/bridge/visible"
)

// maxCoverage is the maximum length of a coverage statement, in characters. nod
// does not offer a scope with a longer statement, because it never truncates a
// statement.
const maxCoverage = 600

// Coverage states what an approval with a scope covers in addition to the
// request itself. It has one sentence for each grant that nod would create, or
// the agent's own words if the agent remembers approvals itself. The card shows
// the statement before the approval, and the closed card, the list of grants,
// the audit log and the receipt repeat it. It is empty if the approval covers
// nothing else.
func (i Interaction) Coverage(s Scope) []string {
	a, c := i.Approval, coverage{i, s}
	switch {
	case a == nil || ScopeOrder(s) < 0:
		return nil
	case a.AgentRemembers:
		return c.agentRemembers()
	case s == ScopeOnce:
		return nil
	case i.GrantKey == "":
		return nil
	case len(i.RuleGrants) == 0:
		return []string{c.term() + " may repeat exactly this request: " + c.exactly() + "."}
	}
	var out []string
	for _, r := range i.RuleGrants {
		out = append(out, c.rule(r))
	}
	return out
}

// CoverageShown is Coverage for people who see the request as well, on a card
// or next to one. The only part of the request that it names is the location.
func (i Interaction) CoverageShown(s Scope) []string {
	all := i.Coverage(s)
	c := coverage{i, s}
	if len(all) == 1 && i.Approval != nil && !i.Approval.AgentRemembers && len(i.RuleGrants) == 0 && i.GrantKey != "" {
		return []string{c.term() + " may repeat exactly this request" + c.place() + "."}
	}
	return all
}

// CoverageBrief is a short form of Coverage, for a menu entry that already
// mentions the repeats or the rule. It states the duration, the rule and the
// location. It is empty if an approval with the scope covers only the request.
func (i Interaction) CoverageBrief(s Scope) string {
	switch {
	case len(i.Coverage(s)) == 0:
		return ""
	case i.Approval.AgentRemembers:
		return readable(OneLine(i.Agent)) + " remembers it"
	}
	out := spelled(i.GrantTTL(s))
	switch n := len(i.RuleGrants); n {
	case 0:
		return out // the location is part of the request
	case 1:
		out += ", rule " + quoted(i.RuleGrants[0].Rule)
	default:
		out += fmt.Sprintf(", %d rules", n)
	}
	if where := i.Approval.Where; where != "" {
		out += ", in " + quoted(where)
	}
	return out
}

// GrantTTL is the time for which nod keeps the grant of an approval with a scope.
func (i Interaction) GrantTTL(s Scope) time.Duration {
	longest := AlwaysGrantTTL
	if s == ScopeSession {
		longest = SessionGrantTTL
	}
	return Ruling{GrantFor: i.GrantFor}.grantTTL(longest)
}

// coverage builds the statement of what an approval with a scope covers.
type coverage struct {
	of    Interaction
	scope Scope
}

func (c coverage) rule(r RuleGrant) string {
	where := cmp.Or(strings.TrimSpace(c.place()), "without a location")
	return c.term() + " may do anything that the rule " + quoted(r.Rule) + " matches: " + readable(OneLine(r.Covers)) + "; " + where + "."
}

// place names the location of the request, if the request has a location.
func (c coverage) place() string {
	if c.of.Approval.Where == "" {
		return ""
	}
	return " in the location " + quoted(c.of.Approval.Where)
}

// agentRemembers states that nod creates no grant, and quotes the agent's
// description of the choice.
func (c coverage) agentRemembers() []string {
	agent := readable(OneLine(c.of.Agent))
	text := agent + " remembers this choice itself; nod stores no grant."
	if c.scope.Kind() == ScopeOnce {
		text = ""
	}
	if note := c.of.Approval.ScopeNotes[c.scope]; note != "" {
		text = strings.TrimSpace(text + " " + agent + " describes this choice as " + quoted(note) + ".")
	}
	if text == "" {
		return nil
	}
	return []string{text}
}

// term returns the start of a statement: the duration, the sessions and the
// agent.
func (c coverage) term() string {
	where := "in every session"
	if c.scope == ScopeSession {
		where = "in session " + quoted(c.of.Session)
	}
	return "For " + spelled(c.of.GrantTTL(c.scope)) + " " + where + ", " + readable(OneLine(c.of.Agent))
}

// exactly lists all values that two identical requests share. The agent's
// longer texts come last, so that their writing direction cannot affect the
// other values.
func (c coverage) exactly() string {
	i, a := c.of, c.of.Approval
	var s []string
	add := func(name, text string) {
		if text != "" {
			s = append(s, name+" "+quoted(text))
		}
	}
	add("tool", a.Tool)
	if i.ToolName != a.Tool {
		add("called by", i.ToolName)
	}
	add("location", a.Where)
	if i.Redacted > 0 {
		s = append(s, "with the same hidden values")
	}
	if len(a.Input) > 0 {
		s = append(s, "input "+readableJSON(string(a.Input)))
	}
	add("note", i.Error)
	add("prompt", i.Prompt)
	return strings.Join(s, ", ")
}

// spelled writes a duration in full, such as "24 hours".
func spelled(d time.Duration) string {
	unit := func(n time.Duration, name string) string {
		if n == 1 {
			return "1 " + name
		}
		return fmt.Sprintf("%d %ss", n, name)
	}
	const day = 24 * time.Hour
	switch {
	case d > day && d%day == 0:
		return unit(d/day, "day")
	case d >= time.Hour && d%time.Hour == 0:
		return unit(d/time.Hour, "hour")
	case d >= time.Minute && d%time.Minute == 0:
		return unit(d/time.Minute, "minute")
	}
	return d.String()
}

// quoted returns text in quotation marks on one line. No one can mistake the
// result for text of nod, and different texts never look the same.
func quoted(s string) string { return `"` + readable(quoting.Replace(s)) + `"` }

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// readable replaces each invisible character, and each character that affects
// the appearance of others, with its code point. A space after a space counts
// as invisible.
func readable(s string) string {
	return visible.Escape(s, func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// readableJSON is like readable for compact JSON. It preserves the JSON value.
func readableJSON(s string) string {
	return visible.Escape(s, func(r rune) string {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}
