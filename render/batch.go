package render

import (
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// Item is one of several approvals that share a message.
type Item struct {
	Number int
	View   bridge.View // of this approval only
	Blocks []Block
	full   []Block // the request, whatever its state
	// Decisions are the indexes of the decisions that have a control. It is
	// empty once the approval is decided.
	Decisions []int
}

// Label returns the label of decision n for a message that shows the controls
// of all items together.
func (i Item) Label(n int) string {
	r := i.View.Record.Interaction
	return strconv.Itoa(i.Number) + " · " + DecisionLabel(r, r.Decisions()[n])
}

// NewBatch builds the card of several approvals. Its body contains the text of
// all of them. With short, only the plainest decisions get a control.
func NewBatch(v bridge.View, short bool) (Card, []Item) {
	c := NewCard(v.Of(0), func(bridge.Question) bool { return false })
	c.Body, c.Closing, c.Digest, c.Closed, c.Whole = nil, nil, "", true, false
	open := 0
	var items []Item
	for n := range v.Batch {
		it := newItem(v.Of(n), n+1, short)
		if !it.View.Record.State.Final() {
			open++
			c.Closed, c.Whole = false, true
		}
		items = append(items, it)
		if n > 0 {
			c.Body, c.Full = append(c.Body, Block{Kind: Rule}), append(c.Full, Block{Kind: Rule})
		}
		c.Body, c.Full = append(c.Body, it.Blocks...), append(c.Full, it.full...)
	}
	count := strconv.Itoa(len(items))
	agent := Line(v.Record.Interaction.Agent)
	c.From = from(batchOrigin(v.Batch[0].Interaction))
	switch {
	case c.Closed:
		c.Icon, c.Headline = "📋", count+" requests, all decided"
		c.Notice = c.Headline + ": " + agent
	case open < len(items):
		c.Icon, c.Headline = "🔐", strconv.Itoa(open)+" of "+count+" permissions still wanted"
		c.Notice = agent + " wants " + strconv.Itoa(open) + " of " + count + " permissions"
	default:
		c.Icon, c.Headline = "🔐", count+" permissions wanted"
		c.Notice = agent + " wants " + count + " permissions"
	}
	return c, items
}

// batchOrigin leaves out the details that only the first approval has.
func batchOrigin(i bridge.Interaction) bridge.Interaction {
	i.ToolName, i.Approval = "", nil
	return i
}

func newItem(v bridge.View, number int, short bool) Item {
	r := v.Record
	i := r.Interaction
	it := Item{Number: number, View: v}
	title := []Span{{Text: strconv.Itoa(number) + ". ", Bold: true}}
	body := Markdown(i.Prompt)
	if len(body) > 0 && body[0].Kind == Paragraph {
		title, body = append(title, body[0].Spans...), body[1:]
	}
	it.Blocks = append(append(it.Blocks, Block{Kind: Paragraph, Spans: title}), body...)
	it.Blocks = append(append(it.Blocks, Para(tool(i))), Input(*i.Approval)...)
	it.full = append(append(it.full, it.Blocks...), scopeNotes(i)...)
	if r.State.Final() {
		icon, _ := headline(r)
		end := closing(r)
		if len(end) > 0 && end[0].Kind == Paragraph {
			end[0].Spans = append([]Span{{Text: icon + " "}}, end[0].Spans...)
		}
		it.Blocks = append(it.Blocks, end...)
		return it
	}
	if len(i.Digest) >= 12 {
		it.Blocks = append(it.Blocks, Block{Kind: Paragraph, Spans: []Span{{Text: "sha256:" + i.Digest[:12], Code: true}}})
	}
	it.Blocks = append(it.Blocks, scopeNotes(i)...)
	if s := Standing(r); s != "" {
		it.Blocks = append(it.Blocks, Para(s))
	}
	for n, d := range i.Decisions() {
		if !short || slices.Contains(bridge.BatchDecisions, d) {
			it.Decisions = append(it.Decisions, n)
		}
	}
	return it
}

// tool names the tool and the location of an approval in a batch.
func tool(i bridge.Interaction) string {
	s := "tool " + Line(i.Approval.Tool)
	if i.Approval.Where != "" {
		s += " in " + Line(i.Approval.Where)
	}
	return s
}

// All is a control that decides every pending approval of a batch.
type All struct {
	Option int // index into bridge.BatchDecisions
	Label  string
	Tone   Tone
}

// ForAll returns the controls that decide every pending approval: the decisions
// that all of at least two offer.
func ForAll(items []Item) []All {
	var out []All
	for n, d := range bridge.BatchDecisions {
		offering, open := 0, 0
		for _, it := range items {
			if it.View.Record.State.Final() {
				continue
			}
			open++
			if slices.Contains(it.View.Record.Interaction.Decisions(), d) {
				offering++
			}
		}
		if open < 2 || offering < open {
			continue
		}
		a := All{Option: n, Label: map[bridge.Decision]string{bridge.DecideDeny: "Deny all", bridge.DecideOnce: "Allow all once", bridge.DecideSession: "Allow all for this session"}[d]}
		switch d {
		case bridge.DecideDeny:
			a.Tone = Bad
		case bridge.DecideOnce:
			a.Tone = Good
		}
		out = append(out, a)
	}
	return out
}
