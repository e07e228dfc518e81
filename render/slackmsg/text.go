package slackmsg

import (
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// richText writes a document as one rich_text block. Its leaves are literal, so
// untrusted text cannot become a mention, a link or markup.
func richText(blockID string, doc []render.Block) *slack.RichTextBlock {
	w := writer{}
	w.blocks(doc, 0)
	return slack.NewRichTextBlock(blockID, w.out...)
}

type writer struct{ out []slack.RichTextElement }

func (w *writer) blocks(doc []render.Block, depth int) {
	for n, b := range doc {
		last := n == len(doc)-1
		switch b.Kind {
		case render.Paragraph:
			w.section(b.Spans, false, !last)
		case render.Heading:
			w.section(b.Spans, true, !last)
		case render.Code:
			text := b.Text
			if text == "" {
				text = " "
			}
			w.out = append(w.out, &slack.RichTextPreformatted{
				Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)},
			})
		case render.Quote:
			w.quote(b.Inner)
		case render.Rule:
			w.section([]render.Span{{Text: "――――"}}, false, !last)
		case render.List:
			w.list(b, min(depth, maxNesting))
		}
	}
}

// quote writes a quote. Only its first paragraph keeps its styles.
func (w *writer) quote(doc []render.Block) {
	var elements []slack.RichTextSectionElement
	if len(doc) > 0 && doc[0].Kind == render.Paragraph {
		elements, doc = leaves(doc[0].Spans, false), doc[1:]
	}
	if text := render.PlainText(doc); text != "" {
		if len(elements) > 0 {
			text = "\n" + text
		}
		elements = append(elements, slack.NewRichTextSectionTextElement(text, nil))
	}
	if len(elements) > 0 {
		w.out = append(w.out, &slack.RichTextQuote{Type: slack.RTEQuote, Elements: elements})
	}
}

func (w *writer) section(spans []render.Span, bold, newline bool) {
	elements := leaves(spans, bold)
	if len(elements) == 0 {
		return
	}
	if newline {
		elements = append(elements, slack.NewRichTextSectionTextElement("\n", nil))
	}
	w.out = append(w.out, slack.NewRichTextSection(elements...))
}

// list writes the first paragraph of an item as the item. The rest of the item
// follows, with deeper lists indented.
func (w *writer) list(b render.Block, depth int) {
	style := slack.RTEListBullet
	if b.Start > 0 {
		style = slack.RTEListOrdered
	}
	var run []slack.RichTextElement
	offset := max(0, b.Start-1)
	flush := func(next int) {
		if len(run) == 0 {
			return
		}
		l := slack.NewRichTextList(style, depth, run...)
		l.Offset = offset
		w.out = append(w.out, l)
		run, offset = nil, max(0, b.Start-1+next)
	}
	for n, item := range b.Items {
		var first []slack.RichTextSectionElement
		rest := item
		if len(item) > 0 && (item[0].Kind == render.Paragraph || item[0].Kind == render.Heading) {
			first, rest = leaves(item[0].Spans, false), item[1:]
		}
		if len(first) == 0 {
			first = []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(" ", nil)}
		}
		run = append(run, slack.NewRichTextSection(first...))
		if len(rest) > 0 {
			flush(n + 1)
			w.blocks(rest, depth+1)
		}
	}
	flush(len(b.Items))
}

// Formats of times, in the reader's zone.
const (
	dateFormat  = "{date_short_pretty} at {time}"
	exactFormat = "{date_short_pretty} at {time_secs}"
)

func leaves(spans []render.Span, bold bool) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	for _, s := range spans {
		if s.Text == "" {
			continue
		}
		var style *slack.RichTextSectionTextStyle
		if s.Bold || bold || s.Italic || s.Strike || s.Code {
			style = &slack.RichTextSectionTextStyle{Bold: s.Bold || bold, Italic: s.Italic, Strike: s.Strike, Code: s.Code}
		}
		switch {
		case s.URL != "":
			out = append(out, slack.NewRichTextSectionLinkElement(s.URL, s.Text, style))
		case s.Time != 0:
			format := dateFormat
			if s.Exact {
				format = exactFormat
			}
			out = append(out, slack.NewRichTextSectionDateElement(s.Time, format, nil, &s.Text))
		default:
			out = append(out, slack.NewRichTextSectionTextElement(s.Text, style))
		}
	}
	return out
}

// Note returns an ephemeral reply: its escaped notification, and a block with the
// literal text.
func Note(s string) (string, []slack.Block) {
	s = render.Cut(render.Clean(s), maxMessage/2, wireCost)
	return Escape(render.Cut(s, maxNotice, cost)), []slack.Block{richText("", []render.Block{{Kind: render.Paragraph, Spans: render.Noted(s)}})}
}

// Offer is Note with a button that opens a link. An empty link has no button.
func Offer(s, link string) (string, []slack.Block) {
	text, blocks := Note(s)
	return text, append(blocks, linkTo(link)...)
}

// linkTo returns a button that opens a page where only one person can continue.
func linkTo(link string) []slack.Block {
	if link == "" {
		return nil
	}
	b := button("nod-link", "", bridge.LabelSign, slack.StylePrimary)
	b.URL = link
	return []slack.Block{slack.NewActionBlock("", b)}
}

// plain returns a plain_text object, in which Slack finds no mentions, links or
// emoji codes.
func plain(s string, limit int) *slack.TextBlockObject {
	off := false
	s = render.Cut(s, limit, cost)
	if strings.TrimSpace(s) == "" {
		s = "–"
	}
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: s, Emoji: &off}
}

// Escape makes text literal in places where Slack parses mrkdwn tokens, such as
// the top-level text of a message.
func Escape(s string) string { return escaping.Replace(s) }

var escaping = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
