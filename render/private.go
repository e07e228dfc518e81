package render

import (
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// privateCard builds the card of a private request for its channel. It shows
// the kind of the request, its risk, who asks and the outcome, but none of the
// agent's words. The card of a withheld request is the same, with the reason.
func privateCard(v bridge.View) Card {
	r := v.Record
	i := r.Interaction
	c := Card{Closed: r.State.Final() || i.Kind == bridge.KindNotice, Head: privateHead(i), From: from(unwritten(i), Action{}, nil)}
	if c.Closed && i.Kind != bridge.KindNotice {
		action := Span{Text: strings.TrimSuffix(headText(c.Head), "?"), Strike: i.Kind == bridge.KindApproval && refused(r)}
		c.Body = []Block{{Kind: Paragraph, Spans: []Span{action}}}
		c.Head = []Span{{Text: ending(r)}}
		c.Closing = last(r)
		if len(r.Votes) > 1 {
			c.Closing = append([]Block{Para(votes(r))}, c.Closing...)
		}
		if v.Withheld {
			c.Body = append(c.Body, Para(refuser(v)+" does not accept the text of this request."))
		}
	} else {
		c.Whole = true
		if !c.Closed {
			c.Due = Due(r, v.Mentions)
		}
		c.Body = append(facts(unwritten(i), Action{}), Para(NotePrivate))
		if v.Withheld {
			c.Body = append([]Block{{Kind: Paragraph, Spans: c.Head}}, withheld(v)...)
			c.Head = []Span{{Text: HeadWithheld}}
		}
	}
	c.Notice = previewed(r, privateNotice(r))
	return c
}

// refuser names the platform that does not accept the text of a withheld
// request.
func refuser(v bridge.View) string {
	if all := v.Record.Interaction.Destinations; v.Destination < len(all) {
		return Platform(all[v.Destination].Platform)
	}
	return "The chat service"
}

// withheld returns a note about where people can answer a withheld request.
func withheld(v bridge.View) []Block {
	said := refuser(v) + " does not accept the text of this request. "
	if where := Elsewhere(v); where != "" {
		said += "It is still open: " + where
	} else {
		said += "No other chat shows it now, so no one can answer it. Unless that changes, nod closes it, and tells " +
			Line(v.Record.Interaction.Agent) + " that no one was asked."
	}
	out := []Block{Para(said)}
	if v.Fix != "" {
		out = append(out, Para("For the administrator of nod: "+Cut(Line(v.Fix), 500, Runes)+"."))
	}
	return out
}

// privateNotice returns the text of the notification of a private request: the
// kind of the action or a question, with who asks, or the head of a notice, or how
// the request ended.
func privateNotice(r bridge.Record) string {
	i := r.Interaction
	switch {
	case i.Kind == bridge.KindNotice:
		return strings.TrimPrefix(headText(noticeHead(i)), "ℹ️ ") + "."
	case r.State != bridge.StatePending || r.Unverified != "":
		return Cut(ending(r), 200, Runes)
	case i.Approval != nil:
		return kindOf(i) + "? Asked by " + Line(i.Agent) + "."
	}
	return Line(i.Agent) + " asks a question."
}

// kindOf names the kind of an action without its object, such as "Run a command".
func kindOf(i bridge.Interaction) string {
	does, what, _ := strings.Cut(verb(i), " ")
	article := " a "
	switch {
	case what == "":
		what = "action"
		fallthrough
	case strings.ContainsAny(what[:1], "aeiou"):
		article = " an "
	}
	return does + article + what
}

// unwritten returns a private request without the agent's words.
func unwritten(i bridge.Interaction) bridge.Interaction {
	i.Ask = bridge.Ask{Kind: i.Kind}
	return i
}

// privateHead returns the first line of a private request.
func privateHead(i bridge.Interaction) []Span {
	switch {
	case i.Kind == bridge.KindNotice:
		return noticeHead(i)
	case i.Kind == bridge.KindApproval:
		return []Span{{Text: kindOf(i) + "?"}}
	case i.LonePlan():
		return []Span{{Text: "Approve the plan?"}}
	}
	return []Span{{Text: Line(i.Agent) + " asks a question"}}
}

// ReviewControl returns the control that shows a private request to a person
// who may respond.
func ReviewControl(i bridge.Interaction) bridge.Control {
	option := bridge.OptionReview
	if i.Kind == bridge.KindNotice {
		option = bridge.OptionRead
	}
	return bridge.Control{Action: bridge.ActionInput, Option: option}
}
