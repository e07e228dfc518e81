package slackmsg

import (
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Limits of the Home tab. Slack limits the number of blocks, but not the total
// length of the texts.
const (
	maxHomeBody    = 3000              // a request that can be decided in the tab
	homeForWaiting = 60                // maximum number of blocks up to the end of the pending requests
	homeForGrants  = 80                // maximum number of blocks up to the end of the grants
	homeForAll     = maxViewBlocks - 1 // the last block is the footer
	maxHomeLine    = 300               // line about a decision
)

// revokePrefix starts the action IDs of the buttons that revoke a grant. The
// value of such a button is the ID of the grant.
const revokePrefix = "revoke-"

// Page is the content of a Home tab.
type Page struct {
	bridge.Overview
	Note string // result of the person's last click; may be empty
	Team string // URL of the workspace, with a trailing slash; may be empty
	// Bare omits the controls that decide.
	Bare bool
	At   time.Time
}

// tab collects the blocks of a Home tab.
type tab struct{ blocks []slack.Block }

// add appends blocks unless the tab would then exceed limit blocks.
func (t *tab) add(limit int, blocks ...slack.Block) bool {
	if len(t.blocks)+len(blocks) > limit {
		return false
	}
	t.blocks = append(t.blocks, blocks...)
	return true
}

// divided returns a block with a divider before it, unless there is one already.
func (t *tab) divided(b slack.Block) []slack.Block {
	if t.blocks[len(t.blocks)-1].BlockType() == slack.MBTDivider {
		return []slack.Block{b}
	}
	return []slack.Block{slack.NewDividerBlock(), b}
}

// Home returns the Home tab of a person: pending requests, grants and recent
// decisions. A request has its controls if the tab shows all of it, and
// otherwise a link to its card.
func Home(p Page) slack.HomeTabViewRequest {
	t := &tab{}
	t.add(homeForAll, slack.NewHeaderBlock(plain(waitingTitle(p.Overview), maxHeader)))
	if p.Note != "" {
		t.add(homeForAll, richText("", []render.Block{render.Para(render.Clean(p.Note))}))
	}
	left := 0
	for n, w := range p.Waiting {
		room := homeForWaiting - len(p.Waiting) + n + 1 // the others need one block each
		if !t.add(room, whole(p, w)...) && !t.add(homeForWaiting, short(p, w)...) {
			left++
		}
	}
	if left > 0 || p.More {
		t.add(homeForWaiting+1, small("More requests wait for you. To list them, send /"+bridge.CommandName+" mine."))
	}
	if p.Unreadable > 0 {
		t.add(homeForWaiting+2, small(strings.TrimSpace(bridge.Lacks(p.Unreadable, "item"))))
	}
	t.grants(p.Grants)
	t.decided(p.Decided)
	t.blocks = append(t.blocks, slack.NewContextBlock("", dated("As of ", p.At, ". /"+bridge.CommandName+" help lists the commands.")))
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: t.blocks}}
}

func waitingTitle(o bridge.Overview) string {
	n := len(o.Waiting)
	switch {
	case n == 0:
		return "No pending requests"
	case o.More:
		return fmt.Sprintf("More than %d pending requests", n)
	case n == 1:
		return "1 pending request"
	}
	return fmt.Sprintf("%d pending requests", n)
}

// dated returns a time in the reader's zone between two texts of nod. The texts
// must not contain untrusted text, because Slack parses markup in them.
func dated(before string, at time.Time, after string) *slack.TextBlockObject {
	text := fmt.Sprintf("%s<!date^%d^%s|%s>%s", before, at.Unix(), dateFormat, at.UTC().Format("Jan 2, 15:04 UTC"), after)
	return &slack.TextBlockObject{Type: slack.MarkdownType, Text: text, Verbatim: true}
}

// small returns a line of less important text.
func small(s string) slack.Block { return slack.NewContextBlock("", plain(s, maxSection)) }

// whole returns a request in full with its controls. It returns the short form
// if the request is too long or cannot be decided here.
func whole(p Page, w bridge.Waiting) []slack.Block {
	i, id := w.View.Record.Interaction, blockID(w.View)
	c := render.NewCard(w.View, listedOnCard(i))
	body, all := clip(c.Body, maxHomeBody)
	questions, every := clip(c.Questions, maxHomeBody)
	if p.Bare || w.Elsewhere || !all || !every {
		return short(p, w)
	}
	out := []slack.Block{richText("head-"+id, []render.Block{{Kind: render.Heading, Spans: c.Head}})}
	if len(body) > 0 {
		out = append(out, richText("body-"+id, body))
	}
	if len(questions) > 0 {
		out = append(out, richText("questions-"+id, questions))
	}
	out = append(append(out, notes(w.View, id)...), origin(c, id), due(c, id))
	row := controls(w.View, id, true, true)
	describe(row, maxView, func(string) string { return subject(i, c) })
	confirm(row, c)
	if last, ok := row[len(row)-1].(*slack.ActionBlock); ok && len(last.Elements.ElementSet) < maxActions {
		if e := open(p, w, c); e != nil {
			last.Elements.ElementSet = append(last.Elements.ElementSet, e)
		}
	}
	return append(append(out, row...), slack.NewDividerBlock())
}

// confirm adds a confirmation dialog that names the request to the buttons that
// decide, because the tab can change just before a click.
func confirm(row []slack.Block, c render.Card) {
	for _, b := range row {
		block, ok := b.(*slack.ActionBlock)
		if !ok {
			continue
		}
		for _, e := range block.Elements.ElementSet {
			if e, ok := e.(*slack.ButtonBlockElement); ok && e.Confirm == nil && decides(e.Value) {
				e.Confirm = slack.NewConfirmationBlockObject(plain(e.Text.Text, maxConfirmTitle), plain(render.Cut(c.HeadText(), maxConfirmText, cost), maxConfirmText),
					plain("Yes", maxConfirmButton), plain("Cancel", maxConfirmButton))
			}
		}
	}
}

// decides reports whether a click on a control resolves a request at once.
func decides(token string) bool {
	switch bridge.PeekAction(token) {
	case bridge.ActionChoose, bridge.ActionSubmit, bridge.ActionDecline:
		return true
	}
	return false
}

// short returns the headline of a request with a link to its card.
func short(p Page, w bridge.Waiting) []slack.Block {
	i, id := w.View.Record.Interaction, blockID(w.View)
	c := render.NewCard(w.View, listedOnCard(i))
	text := c.HeadText()
	if i.Approval == nil { // the headline of an approval already names the action
		text += " " + render.Line(render.PlainText(c.Body))
	}
	text = render.Cut(text, maxHomeLine, cost) + "\n" + render.Line(i.Agent)
	fields := []*slack.TextBlockObject{dated("Expires ", i.Deadline, "")}
	s := slack.NewSectionBlock(plain(text, maxSection), fields, nil,
		slack.SectionBlockOptionBlockID("short-"+id), slack.SectionBlockOptionExpand(true))
	if e := open(p, w, c); e != nil {
		s.Accessory = slack.NewAccessory(e)
	}
	return []slack.Block{s}
}

// open returns a link to the card of a request, or nil if there is none.
func open(p Page, w bridge.Waiting, c render.Card) *slack.ButtonBlockElement {
	link := Link(p.Team, w.Card)
	if link == "" {
		return nil
	}
	e := button("open", "", render.LabelOpen, slack.StyleDefault)
	e.URL = link
	e.AccessibilityLabel = accessible(render.LabelOpen, subject(w.View.Record.Interaction, c))
	return e
}

// Link returns the URL of a message in a workspace, whose URL ends with a
// slash. It returns an empty string if either is unknown.
func Link(team string, ref bridge.MessageRef) string {
	if ref.Message == "" || team == "" {
		return ""
	}
	link := team + "archives/" + ref.Channel + "/p" + strings.ReplaceAll(ref.Message, ".", "")
	if ref.Thread != "" {
		link += "?thread_ts=" + ref.Thread + "&cid=" + ref.Channel
	}
	return link
}

// grants lists grants, each with a button that revokes it. A grant whose
// coverage does not fit is only counted, because its text must not be cut.
func (t *tab) grants(all []bridge.Grant) {
	if len(all) == 0 {
		return
	}
	t.add(homeForGrants, t.divided(slack.NewHeaderBlock(plain("Standing approvals", maxHeader)))...)
	left := 0
	for n, g := range all {
		words := render.Clean(g.Words())
		e := button(fmt.Sprintf("%s%d", revokePrefix, n), g.ID(), "Revoke…", slack.StyleDefault)
		e.AccessibilityLabel = accessible("Revoke", words)
		e.Confirm = slack.NewConfirmationBlockObject(plain("Revoke this approval?", maxConfirmTitle),
			plain(render.Line(g.Agent)+" will ask again the next time.", maxConfirmText),
			plain("Revoke", maxConfirmButton), plain("Keep", maxConfirmButton))
		s := slack.NewSectionBlock(plain(words, maxSection), nil, slack.NewAccessory(e), slack.SectionBlockOptionExpand(true))
		if cost(words) > maxSection || !t.add(homeForGrants-1, s) {
			left++
		}
	}
	if left > 0 {
		t.add(homeForGrants, small(fmt.Sprintf("%d more are not shown. To list them, send /%s grants.", left, bridge.CommandName)))
	}
}

// decided lists closed requests.
func (t *tab) decided(all []bridge.Record) {
	if len(all) == 0 {
		return
	}
	t.add(homeForAll, t.divided(slack.NewHeaderBlock(plain("Recent decisions", maxHeader)))...)
	for _, r := range all {
		c := render.NewCard(bridge.NewView(r, 0, nil, func(bridge.Control) string { return "" }), func(bridge.Question) bool { return false })
		line := c.HeadText()
		if len(c.Body) > 0 {
			line += ": " + render.Line(render.PlainText(c.Body[:1]))
		}
		row := []slack.MixedElement{plain(render.Cut(line, maxHomeLine, cost), maxSection)}
		if r.Response != nil {
			row = append(row, dated("", r.Response.At, ""))
		}
		t.add(homeForAll, slack.NewContextBlock("", row...))
	}
}

// Revoked returns the ID of the grant that a button of the Home tab revokes. It
// is empty for any other button.
func Revoked(action, value string) string {
	if !strings.HasPrefix(action, revokePrefix) {
		return ""
	}
	return value
}
