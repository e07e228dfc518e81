package people

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// known holds the facts about one account and some groups at one time. These
// facts determine what the account may do with a request.
type known struct {
	who bridge.Actor // Person is set if the account is identified
	// unidentified is the reason that nod cannot identify the person of the
	// account. It is empty if nod can.
	unidentified string
	in           map[string]bool   // the groups that include the account
	unread       map[string]string // groups that may include the account, with the reason why this is unknown
	loose        bool              // without a directory, responders are accounts
}

// Refusal is the reason that someone may not answer. The zero value means that
// they may.
type Refusal struct {
	Why    string   // one of the constants, for the audit log
	Unread []string // groups that nod cannot read now, with the reason
	Denies bool     // the person may still deny
}

// Reason returns the reason for use in an error.
func (no Refusal) Reason() string {
	if len(no.Unread) == 0 {
		return no.Why
	}
	return no.Why + ", because nod cannot read " + strings.Join(no.Unread, ", ")
}

// Code returns the code of the error for a caller.
func (no Refusal) Code() bridge.Code {
	if no.Why == WhyUnread {
		return bridge.CodeUnavailable
	}
	return bridge.CodeForbidden
}

// The reasons.
const (
	WhyNobody    = "not a responder"
	WhyRequester = "own request"
	WhyUnlinked  = "account not linked to a person"
	WhyUnread    = "unknown whether a responder"
)

// answer returns the reason that the account may not answer a request. Unknown
// facts do not give a right to approve. They do not remove a person's right to
// deny, because a failure must never keep anyone from denying.
func (k known) answer(i bridge.Interaction) Refusal {
	in, unread := k.responds(i.Responders, i.Groups)
	person := k.who.Person
	anonymous := person == "" && (i.Counted() || i.StepUp != "" || len(i.Requesters) > 0)
	switch {
	case !in && len(unread) > 0:
		return Refusal{Why: WhyUnread, Unread: unread, Denies: person != ""}
	case !in:
		return Refusal{Why: WhyNobody}
	case anonymous && k.unidentified != "":
		return Refusal{Why: WhyUnread, Unread: []string{k.unidentified}, Denies: !i.DenyCounts}
	case anonymous: // a vote requires a known person
		return Refusal{Why: WhyUnlinked, Denies: !i.DenyCounts}
	case slices.Contains(i.Requesters, person):
		return Refusal{Why: WhyRequester, Denies: true} // a statement of the agent never prevents a denial
	}
	return Refusal{}
}

// responds reports whether the account is one of the responders or in one of
// the groups. If not, it also returns the groups that nod cannot read.
func (k known) responds(responders []bridge.Responder, groups []string) (in bool, unread []string) {
	if slices.ContainsFunc(responders, k.is) {
		return true, nil
	}
	for _, g := range groups {
		if k.in[g] {
			return true, nil
		}
		if why := k.unread[g]; why != "" {
			unread = append(unread, bridge.GroupMark+g+" ("+why+")")
		}
	}
	if k.unidentified != "" {
		unread = append(unread, k.unidentified)
	}
	return false, unread
}

// is reports whether a responder is the person of the account.
func (k known) is(r bridge.Responder) bool {
	if k.who.Person != "" {
		return r.Person == k.who.Person
	}
	return k.loose && r.Platform == k.who.Platform && r.User == k.who.User
}

// named reports whether a name includes the account. The name is that of a
// person or, with GroupMark, of a group. If it does not include the account,
// unread contains the groups that nod cannot read.
func (k known) named(name string) (in bool, unread []string) {
	group, isGroup := strings.CutPrefix(name, bridge.GroupMark)
	if !isGroup || k.loose {
		return name == k.who.Person, nil
	}
	return k.responds(nil, []string{group})
}

// covers returns the indexes of the slots that an approval of the account
// counts toward, and of the slots for which this is unknown.
func (k known) covers(i bridge.Interaction) (yes, maybe []int) {
	for n, s := range i.ApprovalSlots() {
		in, unread := true, []string(nil)
		if s.Requirement >= 0 {
			q := i.Requirements[s.Requirement]
			in, unread = k.responds(q.Responders, q.Groups)
		}
		if (in || len(unread) > 0) && s.Must != "" {
			must, more := k.named(s.Must)
			if in = in && must; !must {
				unread = more
			}
		}
		switch {
		case in:
			yes = append(yes, n)
		case len(unread) > 0:
			maybe = append(maybe, n)
		}
	}
	return yes, maybe
}

// groupsOf returns the groups that determine which slots of a request an approval
// counts toward.
func groupsOf(i bridge.Interaction) []string {
	var out []string
	add := func(groups ...string) { out = append(out, bridge.Missing(out, groups)...) }
	for _, s := range i.ApprovalSlots() {
		if s.Requirement >= 0 {
			add(i.Requirements[s.Requirement].Groups...)
		}
		if g, ok := strings.CutPrefix(s.Must, bridge.GroupMark); ok {
			add(g)
		}
	}
	return out
}
