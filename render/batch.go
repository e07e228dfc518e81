package render

import (
	"slices"
	"strconv"
	"strings"

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

// Label returns the label of decision n. It has the number of the item, because
// a message shows the controls of several.
func (i Item) Label(n int) string {
	r := i.View.Record.Interaction
	number := strconv.Itoa(i.Number)
	switch d := r.Decisions()[n]; {
	case d == bridge.DecideDeny:
		return LabelDeny + " " + number
	case d == bridge.DecideOnce && r.Approval.Confirm == "":
		return batchVerb(r) + " " + number
	}
	return number + " · " + CardLabel(r, r.Decisions()[n])
}

// ReadLabel returns the label of the control that approves the item in a dialog,
// where people read the whole text first.
func (i Item) ReadLabel() string {
	return ReadTitle(i.View.Record.Interaction) + " " + strconv.Itoa(i.Number) + "…"
}

// batchVerb is the first word of the approving control of an item.
func batchVerb(i bridge.Interaction) string {
	word, _, _ := strings.Cut(verb(i), " ")
	return word
}

// NewBatch builds the card of several approvals. Its body contains the text of
// all of them.
func NewBatch(v bridge.View) (Card, []Item) {
	c := NewCard(v.Of(0), func(bridge.Question) bool { return false })
	c.Body, c.Closing, c.Closed, c.Whole = nil, nil, true, false
	c.Due = Due(v.Batch[0], v.Mentions)
	open, action := 0, batchAction(v)
	same := likeness{tool: shareTool(v), run: strings.HasPrefix(action, "Run ")}
	var items []Item
	for n := range v.Batch {
		it := newItem(v.Of(n), n+1, same)
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
	first := v.Batch[0].Interaction
	c.From = from(batchOrigin(v), Action{Origin: describe(first).Origin}, v.Session)
	if s := batchReceived(v); s != "" {
		c.From += " · " + s
	}
	head := action + "?"
	switch {
	case c.Closed:
		head, c.Due = batchEnding(v), nil
	case open == 1 && len(items) > 1:
		head += " 1 is left."
	case open < len(items):
		head += " " + strconv.Itoa(open) + " are left."
	}
	c.Head = []Span{{Text: head}}
	c.Notice = previewedBatch(v, Cut(strings.TrimSuffix(head, ".")+" · asked by "+Line(first.Agent), 200, Runes))
	return c, items
}

// batchEnding is the headline of a batch whose requests are all closed: how many
// ended how.
func batchEnding(v bridge.View) string {
	ends := map[string]int{}
	for _, r := range v.Batch {
		ends[endingWord(r)]++
	}
	var parts []string
	for _, word := range []string{"approved", "denied", "expired", "withdrawn", "not delivered"} {
		if n := ends[word]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+word)
		}
	}
	count := strconv.Itoa(len(v.Batch))
	return "☑️ " + count + " of " + count + " decided: " + strings.Join(parts, ", ")
}

// batchReceived reports whether the agent has received the responses of a batch.
// It is empty if there are none.
func batchReceived(v bridge.View) string {
	all, has := 0, 0
	var left bridge.Record
	for _, r := range v.Batch {
		switch {
		case !responded(r):
			continue
		case r.Delivered.IsZero():
			left = r
		default:
			has++
		}
		all++
	}
	agent := Line(v.Record.Interaction.Agent)
	switch {
	case all == 0:
		return ""
	case has == all && all == 1:
		return agent + " has the answer"
	case has == all:
		return agent + " has the answers"
	case has == 0 && all == 1:
		return received(left)
	case has == 0:
		return strings.Replace(received(left), "the answer", "the answers", 1)
	}
	return agent + " has " + strconv.Itoa(has) + " of " + strconv.Itoa(all) + " answers"
}

// endingWord says in one or two words how a closed approval ended.
func endingWord(r bridge.Record) string {
	switch {
	case r.Unverified != "":
	case r.State == bridge.StateApproved:
		return "approved"
	case r.State == bridge.StateDenied:
		return "denied"
	case r.State == bridge.StateExpired:
		return "expired"
	case r.State == bridge.StateCancelled, r.State == bridge.StateSuperseded:
		return "withdrawn"
	}
	return "not delivered"
}

// batchAction says what all approvals of a batch permit.
func batchAction(v bridge.View) string {
	count := strconv.Itoa(len(v.Batch))
	for _, r := range v.Batch {
		if verb(r.Interaction) != LabelRun {
			return "Allow " + count + " actions"
		}
	}
	return "Run " + count + " commands"
}

// batchOrigin returns the first approval of a batch, without its tool and
// location unless all approvals share them.
func batchOrigin(v bridge.View) bridge.Interaction {
	i := v.Batch[0].Interaction
	if !shareTool(v) {
		i.ToolName, i.Approval = "", nil
	}
	return i
}

// shareTool reports whether all approvals of a batch have the same tool and
// location.
func shareTool(v bridge.View) bool {
	first := v.Batch[0].Interaction
	return !slices.ContainsFunc(v.Batch, func(r bridge.Record) bool {
		i := r.Interaction
		return toolOf(i) != toolOf(first) || i.Approval.Where != first.Approval.Where
	})
}

// likeness records what the approvals of a batch have in common. Their items do
// not repeat it.
type likeness struct {
	tool bool // the tool and the location
	run  bool // all of them run commands
}

func newItem(v bridge.View, number int, same likeness) Item {
	r := v.Record
	i := r.Interaction
	it := Item{Number: number, View: v}
	act := ActionOf(i)
	head, struck := act.Head, r.State.Final() && refused(r)
	if same.run && !struck && len(head) > 1 && head[1].Code {
		head = head[1:] // the headline of the card says "Run"; struck out, it is needed, because code may not be
	}
	title := append([]Span{{Text: strconv.Itoa(number) + "  ", Bold: true}}, head...)
	for n := range title[1:] {
		title[n+1].Strike = struck
	}
	it.Blocks = append(append(it.Blocks, Block{Kind: Paragraph, Spans: title}), facts(i, act)...)
	if !same.tool {
		it.Blocks = append(it.Blocks, Para(origin(i)))
	}
	if said := says(i, act); len(said) > 0 {
		it.Blocks = append(it.Blocks, Block{Kind: Quote, Inner: quoted(i, said)})
	}
	it.Blocks = append(it.Blocks, act.Rest...)
	it.full = append(append(it.full, it.Blocks...), scopeNote(i, bridge.ScopeOnce)...)
	if r.State.Final() {
		it.Blocks = append(it.Blocks, closingItem(v)...)
		return it
	}
	it.Blocks = append(it.Blocks, scopeNote(i, bridge.ScopeOnce)...)
	if s := Standing(r); s != "" {
		it.Blocks = append(it.Blocks, Para(s))
	}
	it.Decisions = i.OnCard()
	return it
}

// origin names the tool and the location of an approval in a batch.
func origin(i bridge.Interaction) string {
	s := "tool " + Line(toolOf(i))
	if i.Approval.Where != "" {
		s += " in " + Line(i.Approval.Where)
	}
	return s
}

// All is a control that decides every pending approval of a batch, or opens the
// list of what it decides.
type All struct {
	Option int // index into bridge.BatchDecisions
	Label  string
}

// Control returns the control. An approval asks again, with the list of what it
// covers.
func (a All) Control() (action bridge.Action, question, option int) {
	if bridge.BatchDecisions[a.Option].Approves() {
		return bridge.ActionInput, 0, bridge.OptionAll + a.Option
	}
	return bridge.ActionAll, 0, a.Option
}

// ForAll returns the controls that decide every pending approval: the decisions
// that all of at least two offer.
func ForAll(v bridge.View) []All {
	var out []All
	open := v.Pending()
	for n, d := range bridge.BatchDecisions {
		lacks := func(r bridge.Record) bool { return !slices.Contains(r.Interaction.Decisions(), d) }
		if len(open) >= 2 && !slices.ContainsFunc(open, lacks) {
			out = append(out, All{Option: n, Label: allLabel(v, d)})
		}
	}
	return out
}

// allLabel returns the label of a control for every pending approval.
func allLabel(v bridge.View, d bridge.Decision) string {
	open := v.Pending()
	count := strconv.Itoa(len(open))
	if d == bridge.DecideDeny {
		return "Deny all " + count
	}
	word := "Run"
	for _, r := range open {
		if verb(r.Interaction) != LabelRun {
			word = "Allow"
		}
	}
	if d == bridge.DecideSession {
		return "Allow all " + count + " for this session…"
	}
	return word + " all " + count + "…"
}
