package telegrammsg

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// writer collects text and its entities. Telegram parses none of the text, so
// it needs no escapes.
type writer struct {
	text     strings.Builder
	units    int // UTF-16 units, which entities count
	entities []Entity
	quoting  bool   // quotes cannot be nested
	extent   string // the part of the request that the card shows
}

// unlinked returns a text that mentions no one. Telegram detects @name if no
// letter, digit or underscore precedes it, and a joiner after the @ prevents
// that. An @ at the end gets one too, because the next text may be a name.
// Email addresses and other texts stay unchanged, so that people can copy them.
func unlinked(s string) string { return broken(s, "@") }

// broken adds a joiner after each mark that would start a link.
func broken(s, marks string) string {
	if !strings.ContainsAny(s, marks) {
		return s
	}
	var b strings.Builder
	done, before := 0, ' '
	for n, r := range s {
		if strings.ContainsRune(marks, r) && !isWord(before) && (n+1 == len(s) || isName(s[n+1])) {
			b.WriteString(s[done : n+1])
			b.WriteString(joiner)
			done = n + 1
		}
		before = r
	}
	return b.String() + s[done:]
}

const joiner = "\u200d"

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// isName reports whether a username may contain c.
func isName(c byte) bool { return c < utf8.RuneSelf && isWord(rune(c)) }

// mention writes a name that notifies a user, if the user's ID is valid.
func (w *writer) mention(m bridge.Mention) {
	id, err := strconv.ParseInt(m.User, 10, 64)
	if err != nil {
		w.add(m.Name)
		return
	}
	w.notify(render.Line(m.Name), id)
}

// mark adds an entity, unless the text has so many that mentions which follow
// could get none. Without it, the text must be harmless.
func (w *writer) mark(e Entity) {
	if len(w.entities) < maxMarks {
		w.entities = append(w.entities, e)
	}
}

// notify writes a name that notifies a user.
func (w *writer) notify(name string, user int64) {
	name = kept(name)
	who := &tgbotapi.User{ID: user, FirstName: name}
	e := Entity{Type: "text_mention", Offset: w.units, Length: render.UTF16(name), User: who}
	w.entities = append(w.entities, e)
	w.text.WriteString(name)
	w.units += e.Length
}

// message returns the text as a message without a keyboard.
func (w *writer) message() Message {
	var m Message
	m.Text, m.Entities = w.result()
	return m
}

// unkept lists combining marks that Telegram drops: clean_input_string in
// github.com/tdlib/td, td/telegram/misc.cpp.
const unkept = "\u030a\u0333\u033f"

// alone maps these marks to similar characters that Telegram keeps. ringed maps
// letters to the single character with a ring above.
var (
	alone  = map[rune]rune{'\u030a': '˚', '\u0333': '‗', '\u033f': '‾'}
	ringed = map[rune]rune{'A': 'Å', 'a': 'å', 'U': 'Ů', 'u': 'ů', 'w': 'ẘ', 'y': 'ẙ'}
)

// kept replaces the combining marks that Telegram would drop.
func kept(s string) string {
	if !strings.ContainsAny(s, unkept) {
		return s
	}
	var out []rune
	for _, r := range s {
		last := len(out) - 1
		switch other, drops := alone[r]; {
		case !drops:
			out = append(out, r)
		case r == '\u030a' && last >= 0 && ringed[out[last]] != 0:
			out[last] = ringed[out[last]]
		default:
			out = append(out, other)
		}
	}
	return string(out)
}

// If a message has more entities than one of these limits, further commands in
// its text, or further formatting, get none. The rest is for mentions.
const (
	maxCommands = maxEntities / 2
	maxMarks    = maxEntities - 20
)

// links are the marks that start a mention, a command, a hashtag or a cashtag.
const links = "@/#$"

// add writes a text. It prevents plain text from becoming a mention, or a
// command that a tap would send to the group in the name of the reader.
func (w *writer) add(s string, kinds ...string) {
	s = kept(s)
	if slices.Contains(kinds, "code") {
		w.write(w.verbatim(s), kinds...)
		return
	}
	s = unlinked(s)
	for {
		from, to := commandIn(s)
		w.write(s[:from], kinds...)
		if from == to {
			w.write(s, kinds...)
			return
		}
		if slices.Contains(kinds, "strikethrough") || len(w.entities) > maxCommands {
			w.write(broken(s[from:to], "/"), kinds...)
		} else {
			w.write(s[from:to], "code") // people can copy it
		}
		s = s[to:]
	}
}

// verbatim returns a text for an entity in which Telegram finds no links. If
// there is no room for the entity, the text gets joiners instead.
func (w *writer) verbatim(s string) string {
	if len(w.entities) < maxMarks {
		return s
	}
	return broken(s, links)
}

// commandIn returns the position of the first text that Telegram would turn
// into a bot command, including the start of a path such as ~/shop:
// match_bot_commands in github.com/tdlib/td, td/telegram/MessageEntity.cpp. It
// returns zeros if there is none. It skips nod's own command.
func commandIn(s string) (from, to int) {
	before := ' '
	for n, r := range s {
		if r == '/' && !isWord(before) && !strings.ContainsRune("/<>", before) {
			end := n + 1
			for end < len(s) && isName(s[end]) {
				end++
			}
			next, _ := utf8.DecodeRuneInString(s[end:])
			ends := end == len(s) || !isWord(next) && !strings.ContainsRune("/<>", next)
			if name := s[n+1 : end]; ends && name != "" && len(name) <= 64 && name != bridge.CommandName {
				return len(strings.TrimRight(s[:n], "~.")), end
			}
		}
		before = r
	}
	return 0, 0
}

// write writes a text that contains no links.
func (w *writer) write(s string, kinds ...string) {
	if s == "" {
		return
	}
	n := render.UTF16(s)
	for _, k := range kinds {
		if k != "" {
			w.mark(Entity{Type: k, Offset: w.units, Length: n})
		}
	}
	w.text.WriteString(s)
	w.units += n
}

func (w *writer) blocks(doc []render.Block, indent string) {
	for n, b := range doc {
		if n > 0 && indent == "" && (b.Kind != render.List || doc[n-1].Kind != render.Paragraph) {
			w.add("\n")
		}
		switch b.Kind {
		case render.Paragraph:
			w.add(indent)
			w.spans(b.Spans, false)
			w.add("\n")
		case render.Heading:
			w.add(indent)
			w.spans(b.Spans, true)
			w.add("\n")
		case render.Code:
			text := b.Text
			if strings.TrimSpace(text) == "" {
				text = "(empty)"
			}
			w.pre(text, b.Lang)
			w.add("\n")
		case render.Rule:
			w.add("――――\n")
		case render.Quote:
			w.quote(b.Inner)
		case render.List:
			w.list(b, indent)
		}
	}
}

// quote writes a quote, whose entities contain those of its text.
func (w *writer) quote(doc []render.Block) {
	start := w.units
	for n, b := range doc {
		if n > 0 {
			w.add("\n")
		}
		if b.Kind == render.Paragraph {
			w.spans(b.Spans, false)
			continue
		}
		w.add(render.PlainText([]render.Block{b}))
	}
	if w.units > start && !w.quoting {
		w.mark(Entity{Type: "blockquote", Offset: start, Length: w.units - start})
	}
	w.add("\n")
}

// body writes the request of a card, and reports whether the text is complete.
func (w *writer) body(v bridge.View, c render.Card, limit int) bool {
	if c.Closed && !c.Whole {
		w.closedBody(c.Body, limit)
		return true // a closed card need not be complete
	}
	body, whole := clip(c.Body, limit)
	w.blocks(body, "")
	if !whole {
		w.extent = render.Extent(c.Body, body)
	}
	return whole
}

// closedBody writes the request on a closed card. It puts a long request in a
// collapsed quote below the first line.
func (w *writer) closedBody(doc []render.Block, limit int) {
	rest := doc
	if len(doc) > 1 && doc[0].Kind == render.Paragraph {
		rest = doc[1:]
	}
	if strings.Count(render.PlainText(rest), "\n") < maxLines {
		doc, _ = clip(doc, limit)
		w.blocks(doc, "")
		return
	}
	if len(rest) < len(doc) {
		first, _ := clip(doc[:1], limit)
		w.blocks(first, "")
		w.add("\n")
	}
	rest, _ = clip(rest, limit)
	start := w.units
	w.quoting = true
	w.blocks(rest, "")
	w.quoting = false
	w.mark(Entity{Type: longQuote, Offset: start, Length: w.units - start - 1}) // without the last newline
}

func (w *writer) pre(text, lang string) {
	text = w.verbatim(kept(text))
	if w.quoting {
		text = strings.TrimRight(text, "\n")
	}
	n := render.UTF16(text)
	w.mark(Entity{Type: "pre", Offset: w.units, Length: n, Language: lang})
	w.text.WriteString(text)
	w.units += n
}

func (w *writer) list(b render.Block, indent string) {
	for n, item := range b.Items {
		mark := "• "
		if b.Start > 0 {
			mark = strconv.Itoa(b.Start+n) + ". "
		}
		w.add(indent + mark)
		if len(item) == 0 {
			w.add("\n")
			continue
		}
		if item[0].Kind == render.Paragraph || item[0].Kind == render.Heading {
			w.spans(item[0].Spans, false)
			w.add("\n")
			item = item[1:]
		} else {
			w.add("\n")
		}
		w.blocks(item, indent+"   ")
	}
}

func (w *writer) spans(spans []render.Span, bold bool) {
	for _, s := range spans {
		if s.Mention != nil {
			w.mention(*s.Mention)
			continue
		}
		start := w.units
		switch {
		case s.Code && s.Strike: // Telegram cannot strike code through, and finds commands and tags in other text
			w.add(broken(s.Text, links), mark(s.Bold || bold, "bold", ""), "strikethrough")
		case s.Code:
			w.add(s.Text, "code")
		case s.URL != "" && s.Text != s.URL:
			w.link(s.Text, s.URL)
		default:
			w.add(s.Text, mark(s.Bold || bold, "bold", ""), mark(s.Italic, "italic", ""), mark(s.Strike, "strikethrough", ""))
		}
		if s.Time > 0 && s.Time <= math.MaxInt32 { // the server reads 32 bits
			w.mark(Entity{
				Type: dateTime, Offset: start, Length: w.units - start, UnixTime: s.Time, Format: mark(s.Exact, "dT", "dt"),
			})
		}
	}
}

// link writes a label that opens an address.
func (w *writer) link(label, address string) {
	if len(w.entities) >= maxMarks {
		w.add(label + " (" + address + ")")
		return
	}
	w.mark(Entity{Type: "text_link", Offset: w.units, Length: render.UTF16(label), URL: address})
	w.add(label)
}

// result trims the text in the same way as Telegram, so that entities stay in
// place.
func (w *writer) result() (string, []Entity) {
	text := strings.TrimRight(w.text.String(), " \n\t")
	length := render.UTF16(text)
	kept := w.entities[:0]
	for _, e := range w.entities {
		if e.Offset >= length {
			continue
		}
		e.Length = min(e.Length, length-e.Offset)
		kept = append(kept, e)
	}
	if len(kept) == 0 {
		return text, nil
	}
	return text, kept
}
