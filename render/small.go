package render

import "github.com/nodbridge/nod/bridge"

// mostSmall is the largest size of a small card, in the units of size. The limits
// of all platforms leave several times as much room.
const mostSmall = 3000

// Small reports whether every platform can show the card of a new request, so
// that a check does not have to write it. It reports false for a request with
// something that few requests have.
func Small(i bridge.Interaction) bool {
	a := i.Approval
	switch {
	case i.Kind != bridge.KindApproval, a == nil:
		return false
	case len(i.Questions)+len(i.Initial)+len(i.Requirements)+len(i.Must)+len(i.Added)+len(i.RuleGrants)+len(a.ScopeNotes) > 0:
		return false
	case i.Quorum > 1, i.StepUp != nil, i.Private, i.Declinable, i.Presentation != "", i.Previous != "", i.Escalation != nil, i.CompletedView != nil:
		return false
	case a.Confirm != "", a.Code != "", len(i.Steps) > 16, len(i.Responders)+len(i.Destinations)+len(i.Groups)+len(i.Requesters) > 32:
		return false
	}
	n := 0
	for _, s := range []string{
		i.Prompt, i.Error, i.Agent, i.Session, i.ToolName, i.Requester, i.Route, i.OwnRoute, i.Rule, i.Risk, a.Tool, a.Where, a.Key, i.Trace,
	} {
		n += size(s)
	}
	for _, r := range i.Responders {
		n += size(r.Person) + size(r.Platform) + size(r.User)
	}
	for _, d := range i.Destinations {
		n += size(d.Platform) + size(d.Channel) + size(d.Thread)
	}
	for _, names := range [][]string{i.Groups, i.Requesters, i.Called, i.Webhooks} {
		for _, s := range names {
			n += size(s)
		}
	}
	for _, s := range i.Steps {
		if s.Route != "" || len(s.Ask) > 0 {
			return false // it names more people
		}
	}
	return n+size(a.Input) <= mostSmall
}

// size returns an upper bound of the room that a text takes on a card, including
// its escapes and markup.
func size[T ~string | ~[]byte](text T) int {
	n := 0
	for k := range len(text) {
		switch c := text[k]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == ' ':
			n++
		case c == '.', c == '?', c == '"', c == '\'', c == '/', c == ';', c == '%':
			n += 8
		case c >= 0x80:
			n += 16
		default: // markup, the structure of JSON, line ends, or a character that is shown by its code
			n += 80
		}
		if n > mostSmall {
			return n
		}
	}
	return n
}
