package slackmsg

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/render"
)

// measure returns the size of blocks in characters of their JSON, with
// entities. Slack's limit is unpublished, and this is the strictest known way
// to count.
func measure(blocks []slack.Block) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(slack.Blocks{BlockSet: blocks}); err != nil {
		return maxMessage + 1 // does not happen: these blocks always marshal
	}
	return cost(b.String())
}

// sizeOf returns the size of a message, as [measure] does, or a bound above it
// if the bound leaves enough room for everything that [describe] can add.
func sizeOf(blocks []slack.Block) int {
	if s, ok := boundOf(blocks); ok && s.size+s.labels <= maxMessage {
		return s.size
	}
	return measure(blocks)
}

// fits reports whether a document is at most limit characters as a block.
func fits(doc []render.Block, limit int) bool {
	return docBound(doc) <= limit || measure([]slack.Block{richText("", doc)}) <= limit
}

// bound is a bound above the size of blocks, which is much faster to find than
// the size, and above the size of the labels that their buttons can get.
type bound struct{ size, labels int }

// frame is the length of JSON without its texts, with the comma behind it.
func frame(skeleton string) int { return len(skeleton) + 1 }

// Lengths of the parts of a message without their texts, with every field that
// the cards set, and null as the longest empty list. Numbers have at most 20 digits.
var (
	blocksFrame  = frame("null")
	richFrame    = frame(`{"type":"rich_text","block_id":"","elements":null}`)
	sectionFrame = frame(`{"type":"rich_text_section","elements":null}`)
	codeFrame    = frame(`{"type":"rich_text_preformatted","elements":null,"border":,"language":""}`) + 20
	quoteFrame   = frame(`{"type":"rich_text_quote","elements":null,"border":}`) + 20
	listFrame    = frame(`{"type":"rich_text_list","elements":null,"style":"ordered","indent":,"border":,"offset":}`) + 3*20
	leafFrame    = frame(`{"type":"text","text":""}`)
	styleFrame   = frame(`"style":{"bold":true,"italic":true,"strike":true,"code":true}`)
	linkFrame    = frame(`{"type":"link","url":"","text":""}`)
	dateFrame    = frame(`{"type":"date","timestamp":,"format":"","fallback":""}`) + 20
	contextFrame = frame(`{"type":"context","block_id":"","elements":null}`)
	actionsFrame = frame(`{"type":"actions","block_id":"","elements":null}`)
	textFrame    = frame(`{"type":"plain_text","text":"","emoji":false,"verbatim":true}`)
	buttonFrame  = frame(`{"type":"button","text":,"action_id":"","url":"","value":"","style":"","accessibility_label":""}`)
	menuFrame    = frame(`{"type":"overflow","action_id":"","options":null}`)
	optionFrame  = frame(`{"text":,"value":"","description":}`)
	dividerFrame = frame(`{"type":"divider","block_id":""}`)
)

// boundOf returns the bound of blocks. It reports false for blocks that it does
// not know.
func boundOf(blocks []slack.Block) (bound, bool) {
	total := bound{size: blocksFrame}
	for _, b := range blocks {
		n, ok := 0, true
		switch b := b.(type) {
		case *slack.RichTextBlock:
			n, ok = boundElements(b.Elements)
			n += richFrame + quotedCost(b.BlockID)
		case *slack.ContextBlock:
			n = contextFrame + quotedCost(b.BlockID)
			for _, e := range b.ContextElements.Elements {
				t, isText := e.(*slack.TextBlockObject)
				ok = ok && isText
				n += boundText(t)
			}
		case *slack.ActionBlock:
			n = actionsFrame + quotedCost(b.BlockID)
			for _, e := range b.Elements.ElementSet {
				c, known := boundControl(e)
				n, ok = n+c.size, ok && known
				total.labels += c.labels
			}
		case slack.DividerBlock:
			n = dividerFrame + quotedCost(b.BlockID)
		default:
			ok = false
		}
		if !ok {
			return bound{}, false
		}
		total.size += n
	}
	return total, true
}

func boundElements(elements []slack.RichTextElement) (int, bool) {
	n := 0
	for _, e := range elements {
		part, ok := 0, true
		switch e := e.(type) {
		case *slack.RichTextSection:
			part, ok = boundLeaves(e.Elements)
			part += sectionFrame
		case *slack.RichTextPreformatted:
			part, ok = boundLeaves(e.Elements)
			part += codeFrame + quotedCost(e.Language)
		case *slack.RichTextQuote:
			part, ok = boundLeaves(e.Elements)
			part += quoteFrame
		case *slack.RichTextList:
			part, ok = boundElements(e.Elements)
			part += listFrame
		default:
			ok = false
		}
		if !ok {
			return 0, false
		}
		n += part
	}
	return n, true
}

func boundLeaves(leaves []slack.RichTextSectionElement) (int, bool) {
	n := 0
	for _, e := range leaves {
		switch e := e.(type) {
		case *slack.RichTextSectionTextElement:
			n += leafFrame + quotedCost(e.Text)
			if e.Style != nil {
				n += styleFrame
			}
		case *slack.RichTextSectionLinkElement:
			n += linkFrame + styleFrame + quotedCost(e.URL) + quotedCost(e.Text)
		case *slack.RichTextSectionDateElement:
			n += dateFrame + quotedCost(e.Format)
			if e.Fallback != nil {
				n += quotedCost(*e.Fallback)
			}
		default:
			return 0, false
		}
	}
	return n, true
}

// boundControl returns the bound of a control.
func boundControl(e slack.BlockElement) (bound, bool) {
	switch e := e.(type) {
	case *slack.ButtonBlockElement:
		b := bound{size: buttonFrame + boundText(e.Text) + quotedCost(e.ActionID) + quotedCost(e.URL) + quotedCost(e.Value) +
			quotedCost(string(e.Style)) + quotedCost(e.AccessibilityLabel)}
		if e.AccessibilityLabel == "" {
			b.labels = 2*maxButton + len(accessibleKey)
		}
		return b, e.Confirm == nil && e.AgentPrompt == "" && e.VisibleToUserIDs == nil
	case *slack.OverflowBlockElement:
		b := bound{size: menuFrame + quotedCost(e.ActionID)}
		for _, o := range e.Options {
			b.size += optionFrame + boundText(o.Text) + boundText(o.Description) + quotedCost(o.Value)
			if o.URL != "" {
				return b, false
			}
		}
		return b, e.Confirm == nil
	}
	return bound{}, false
}

func boundText(t *slack.TextBlockObject) int {
	if t == nil {
		return 0
	}
	return textFrame + quotedCost(t.Text)
}

// docBound returns a bound above the size of a document as a block.
func docBound(doc []render.Block) int {
	n := blocksFrame + richFrame
	for _, b := range doc {
		n += listFrame + leafFrame + maxRule + quotedCost(b.Text)
		for _, s := range b.Spans {
			n += dateFrame + styleFrame + len(exactFormat) + quotedCost(s.Text) + quotedCost(s.URL)
		}
		for _, item := range b.Items {
			n += listFrame + sectionFrame + leafFrame + docBound(item)
		}
		if len(b.Inner) > 0 {
			const escaped = 6 // characters of one byte, at most
			n += docBound(b.Inner[:1]) + leafFrame + escaped*(1+render.PlainLen(b.Inner))
		}
	}
	return n
}

// maxRule is the length of the text of a rule, and more than that of an empty
// text.
const maxRule = 4

// quotedCost returns the cost of a text in the JSON of a message, in which <, >
// and & have escapes too.
func quotedCost(s string) int {
	const escaped = len(`\u0000`)
	n := 0
	for at := 0; at < len(s); {
		if c := s[at]; c < utf8.RuneSelf {
			switch {
			case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
				n += 2
			case c < ' ', c == '<', c == '>', c == '&':
				n += escaped
			default:
				n++
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError, r == '\u2028', r == '\u2029':
			n += escaped
		case r > 0xffff:
			n += 2
		default:
			n++
		}
		at += size
	}
	return n
}
