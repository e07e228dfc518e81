package slackmsg

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// richText writes a document as one rich_text block. Its leaves are literal, so
// untrusted text cannot become a mention, a link or markup.
func richText(blockID string, doc []render.Block) *slack.RichTextBlock {
	w := writer{make([]slack.RichTextElement, 0, len(doc))}
	if w.blocks(doc, 0); len(w.out) == 0 {
		w.out = nil
	}
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
		elements, doc = leaves(doc[0].Spans, false, false), doc[1:]
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
	if elements := leaves(spans, bold, newline); len(elements) > 0 {
		w.out = append(w.out, &slack.RichTextSection{Type: slack.RTESection, Elements: elements})
	}
}

// list writes the first paragraph of an item as the item. The rest of the item
// follows, with indented sublists.
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
			first, rest = leaves(item[0].Spans, false, false), item[1:]
		}
		if len(first) == 0 {
			first = []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(" ", nil)}
		}
		run = append(run, &slack.RichTextSection{Type: slack.RTESection, Elements: first})
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

// leaves returns the leaves of spans. If newline is set, a line break follows
// them. It returns none for spans without text.
func leaves(spans []render.Span, bold, newline bool) []slack.RichTextSectionElement {
	out := make([]slack.RichTextSectionElement, 0, len(spans)+1)
	texts := make([]slack.RichTextSectionTextElement, 0, len(spans)+1) // out holds pointers into it
	text := func(s string, style *slack.RichTextSectionTextStyle) {
		texts = append(texts, slack.RichTextSectionTextElement{Type: slack.RTSEText, Text: s, Style: style})
		out = append(out, &texts[len(texts)-1])
	}
	for _, s := range spans {
		if s.Text == "" {
			continue
		}
		style := styleFor(s.Bold || bold, s.Italic, s.Strike, s.Code)
		switch {
		case s.URL != "":
			out = append(out, slack.NewRichTextSectionLinkElement(s.URL, s.Text, style))
		case s.Time != 0:
			format := dateFormat
			if s.Exact {
				format = exactFormat
			}
			out = append(out, slack.NewRichTextSectionDateElement(s.Time, format, nil, new(s.Text)))
		default:
			text(s.Text, style)
		}
	}
	if newline && len(out) > 0 {
		text("\n", nil)
	}
	return out
}

// styles holds the styles of all leaves, by the bits of styleFor. Leaves share
// them, so callers must not change them.
var styles = func() (all [16]slack.RichTextSectionTextStyle) {
	for n := range all {
		all[n] = slack.RichTextSectionTextStyle{Bold: n&1 != 0, Italic: n&2 != 0, Strike: n&4 != 0, Code: n&8 != 0}
	}
	return all
}()

// styleFor returns the style of a leaf, or nil if it has none.
func styleFor(bold, italic, strike, code bool) *slack.RichTextSectionTextStyle {
	n := 0
	for bit, on := range [...]bool{bold, italic, strike, code} {
		if on {
			n |= 1 << bit
		}
	}
	if n == 0 {
		return nil
	}
	return &styles[n]
}

// Note returns an ephemeral reply: its escaped notification, and a block with the
// literal text.
func Note(s string) (string, []slack.Block) {
	s = render.Cut(render.Clean(s), maxMessage/2, wireCost)
	return Escape(render.Cut(s, maxNotice, cost)), []slack.Block{richText("", []render.Block{{Kind: render.Paragraph, Spans: render.Noted(s)}})}
}

// plain returns a plain_text object, in which Slack finds no mentions, links or
// emoji codes.
func plain(s string, limit int) *slack.TextBlockObject {
	return new(plainText).of(s, limit)
}

// plainText is a plain_text object that holds its own value.
type plainText struct {
	object slack.TextBlockObject
	emoji  bool
}

func (t *plainText) of(s string, limit int) *slack.TextBlockObject {
	s = render.Cut(s, limit, cost)
	if strings.TrimSpace(s) == "" {
		s = "–"
	}
	t.object = slack.TextBlockObject{Type: slack.PlainTextType, Text: s, Emoji: &t.emoji}
	return &t.object
}

// Escape makes text literal in places where Slack parses mrkdwn tokens, such as
// the top-level text of a message.
func Escape(s string) string { return escaping.Replace(s) }

var escaping = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// measure returns the size of blocks in characters of their JSON, with
// entities. Slack does not publish its limit, and this is the strictest known
// way to count.
func measure(blocks []slack.Block) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(slack.Blocks{BlockSet: blocks}); err != nil {
		return maxMessage + 1 // cannot happen: these blocks always marshal
	}
	return cost(b.String())
}

// fits reports whether the block of a document has at most limit characters.
func fits(doc []render.Block, limit int) bool {
	return measure([]slack.Block{richText("", doc)}) <= limit
}

// dateMarkup returns the markup of a time in the reader's zone.
func dateMarkup(s render.Span) string {
	return "<!date^" + strconv.FormatInt(s.Time, 10) + "^" + dateFormat + "|" + Escape(s.Text) + ">"
}

// mention returns the markup that notifies a user or a user group.
func mention(m bridge.Mention) string {
	if m.Group != "" {
		return "<!subteam^" + Escape(m.Group) + ">"
	}
	return "<@" + Escape(m.User) + ">"
}

// Reminder returns the escaped text of a reminder, with the markup of its
// mentions and a link to the card, because other cards can follow the card in
// the thread. If link is empty, the text has no link.
func Reminder(r bridge.Reminder, link string) string {
	var who []string
	for _, u := range r.Users {
		who = append(who, mention(bridge.Mention{User: u}))
	}
	for _, g := range r.Groups {
		who = append(who, mention(bridge.Mention{Group: g}))
	}
	var text strings.Builder
	for _, s := range render.Noted(r.Text) {
		if s.Time != 0 {
			text.WriteString(dateMarkup(s))
		} else {
			text.WriteString(Escape(s.Text))
		}
	}
	if len(who) > 0 && link != "" {
		text.WriteString(" · <" + Escape(link) + "|" + render.LabelOpen + ">")
	}
	return render.Remind(who, text.String())
}
