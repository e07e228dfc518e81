package rendertest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// Telegram reads a message or a prompt for Telegram.
func Telegram(p *page, o *object) {
	t := &telegramText{units: utf16.Encode([]rune(o.str("Text")))}
	t.styles = make([][]string, len(t.units))
	t.before, t.after = map[int]string{}, map[int]string{}
	t.blocks, t.ends = map[int]string{}, map[string]bool{}
	for _, e := range o.list("Entities") {
		t.entity(e)
	}
	t.write(p)
	for _, row := range field[[]any](o, "Keyboard") {
		var shown []string
		list, _ := row.([]any)
		for n, b := range list {
			fields, _ := b.(map[string]any)
			shown = append(shown, telegramButton(p.object(fmt.Sprintf("button %d", n), fields)))
		}
		p.lines = append(p.lines, strings.Join(shown, " "))
	}
	file(p, o.sub("File"))
	if o.has("Placeholder") {
		p.add("?", "reply: text, placeholder "+fmt.Sprintf("%q", o.str("Placeholder")))
	}
}

// telegramText is a text with the formats of each UTF-16 unit.
type telegramText struct {
	units         []uint16
	styles        [][]string
	before, after map[int]string  // text to insert at a unit
	blocks        map[int]string  // kinds of the lines that start at a unit
	ends          map[string]bool // kinds of blocks, with the unit where they end
}

func (t *telegramText) part(from, to int) string { return string(utf16.Decode(t.units[from:to])) }

func (t *telegramText) entity(e *object) {
	kind, from := e.str("type"), e.num("offset")
	to := from + e.num("length")
	if from < 0 || to > len(t.units) || from >= to {
		fail("%s: from %d to %d", e.at, from, to)
	}
	inline := map[string]string{"bold": bold, "italic": italic, "strikethrough": strike, "code": code}
	switch kind {
	case "bold", "italic", "strikethrough", "code":
		for n := from; n < to; n++ {
			t.styles[n] = append(t.styles[n], inline[kind])
		}
	case "text_mention":
		u := e.sub("user")
		if u.str("first_name") != t.part(from, to) {
			fail("%s: the mention of %q reads %q", e.at, u.str("first_name"), t.part(from, to))
		}
		u.hide("is_bot", "language_code")
		t.before[from] += "@{"
		t.after[to] = fmt.Sprintf(" %d}", u.num("id")) + t.after[to]
	case "date_time":
		format := e.str("date_time_format")
		if format != "dt" && format != "dT" {
			fail("%s: the format of a time is %q", e.at, format)
		}
		written := moment(e.num("unix_time"), format == "dT", t.part(from, to))
		t.before[from] += "{"
		t.after[to] = strings.TrimPrefix(written, "{"+t.part(from, to)) + t.after[to]
	case "text_link":
		if !opensCard(t.part(from, to)) {
			fail("%s: the text %q hides a link to %s", e.at, t.part(from, to), e.str("url"))
		}
		t.before[from] += "["
		t.after[to] = "](<" + e.str("url") + ">)" + t.after[to]
	case "blockquote", "expandable_blockquote", "pre":
		t.block(e, kind, from, to)
	default:
		fail("%s: the reader does not know an entity of type %q", e.at, kind)
	}
}

// block marks the lines of a block. It panics if the block covers only a part
// of a line.
func (t *telegramText) block(e *object, kind string, from, to int) {
	mark := map[string]string{"blockquote": ">", "expandable_blockquote": "»", "pre": "`"}[kind]
	if from > 0 && t.units[from-1] != '\n' || to < len(t.units) && t.units[to] != '\n' || t.units[to-1] == '\n' {
		fail("%s: a block of type %s that covers a part of a line: %q", e.at, kind, t.part(from, to))
	}
	if t.ends[mark+fmt.Sprint(from-1)] || t.ends[mark+fmt.Sprint(to+1)] {
		fail("%s: two blocks of type %s touch at %q", e.at, kind, t.part(from, to))
	}
	t.ends[mark+fmt.Sprint(from)], t.ends[mark+fmt.Sprint(to)] = true, true
	if language := e.str("language"); language != "" {
		t.before[from] = "(" + language + ") " + t.before[from]
	}
	for n := from; n < to; n++ {
		if n == from || t.units[n-1] == '\n' {
			t.blocks[n] = addMark(t.blocks[n], mark)
		}
	}
}

// addMark joins the marks of a line: a quote contains code.
func addMark(marks, mark string) string {
	if mark == "`" {
		return marks + mark
	}
	return mark + marks
}

// write adds the lines of the text.
func (t *telegramText) write(p *page) {
	start := 0
	for start <= len(t.units) {
		end := start
		for end < len(t.units) && t.units[end] != '\n' {
			end++
		}
		p.add(t.blocks[start], t.line(start, end, strings.Contains(t.blocks[start], "`")))
		start = end + 1
	}
}

// line returns a line with its formats.
func (t *telegramText) line(from, to int, verbatim bool) string {
	var runs []run
	for n := from; n < to; {
		if put := t.after[n] + t.before[n]; put != "" {
			runs = append(runs, run{put, t.both(from, n)})
		}
		k := n + 1
		for k < to && slices.Equal(t.styles[k], t.styles[n]) && t.before[k]+t.after[k] == "" {
			k++
		}
		text := t.part(n, k)
		if !verbatim && !slices.Contains(t.styles[n], code) {
			text = literal.Replace(text)
		}
		runs = append(runs, run{text, t.styles[n]})
		n = k
	}
	return marked(runs) + t.after[to]
}

// both returns the formats that a unit shares with the unit before it.
func (t *telegramText) both(from, n int) []string {
	if n > from && slices.Equal(t.styles[n-1], t.styles[n]) {
		return t.styles[n]
	}
	return nil
}

// telegramButton reads a button.
func telegramButton(b *object) string {
	var more notes
	more.when(b.str("style") != "", "%s", b.str("style"))
	more.when(b.str("url") != "", "opens %s", b.str("url"))
	more.when(b.has("copy_text"), "copies %s", b.sub("copy_text").str("text"))
	more.when(b.has("disabled"), "disabled")
	b.sub("disabled")
	return "[" + b.str("text") + sent(b.str("callback_data")) + more.String() + "]"
}
