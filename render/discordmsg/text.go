package discordmsg

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nodbridge/nod/render"
)

// Markdown writes a document in Discord's Markdown. It escapes untrusted text,
// which therefore cannot mention, link or format.
func Markdown(doc []render.Block) string {
	var b strings.Builder
	write(&b, doc, "")
	return strings.Trim(b.String(), "\n")
}

func write(b *strings.Builder, doc []render.Block, indent string) {
	for n, blk := range doc {
		if n > 0 && indent == "" {
			b.WriteString("\n")
		}
		switch blk.Kind {
		case render.Paragraph:
			lines(b, inline(blk.Spans), indent)
		case render.Heading:
			spans := make([]render.Span, len(blk.Spans))
			for k, s := range blk.Spans {
				s.Bold = true
				spans[k] = s
			}
			lines(b, inline(spans), indent)
		case render.Code:
			lines(b, codeBlock(blk.Text, blk.Lang), indent)
		case render.Rule:
			lines(b, "――――", indent)
		case render.Quote:
			lines(b, Markdown(blk.Inner), indent+"> ")
		case render.List:
			list(b, blk, indent)
		}
	}
}

func list(b *strings.Builder, blk render.Block, indent string) {
	for n, item := range blk.Items {
		mark := "- "
		if blk.Start > 0 {
			mark = strconv.Itoa(blk.Start+n) + ". "
		}
		var s strings.Builder
		write(&s, item, indent+strings.Repeat(" ", len(mark)))
		text := strings.TrimLeft(s.String(), " ")
		if text == "" {
			text = "\n"
		}
		b.WriteString(indent + mark + text)
	}
}

func lines(b *strings.Builder, s, indent string) {
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(indent)
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// codeBlock shows text literally. A zero-width space breaks a fence in the
// text, because Discord has no escape for it.
func codeBlock(text, lang string) string {
	if strings.IndexFunc(lang, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) >= 0 {
		lang = ""
	}
	if strings.EqualFold(lang, "ansi") {
		lang = "" // escape sequences of this language could hide text
	}
	text = strings.ReplaceAll(text, "```", "`\u200b`\u200b`")
	if strings.HasSuffix(text, "`") {
		text += "\u200b"
	}
	return "```" + lang + "\n" + text + "\n```"
}

func inline(spans []render.Span) string {
	var b strings.Builder
	n := 0
	for _, s := range spans {
		n += len(s.Text) + len(s.Text)/8 + 8 // room for marks
	}
	b.Grow(n)
	for _, s := range spans {
		switch {
		case s.Time != 0:
			b.WriteString("<t:" + strconv.FormatInt(s.Time, 10) + ":f>")
		case s.URL != "" && !strings.ContainsAny(s.URL, "<> \n`"):
			if s.Text != s.URL {
				b.WriteString("[" + Escape(s.Text) + "](<" + s.URL + ">)")
				continue
			}
			b.WriteString("<" + s.URL + ">")
		case s.Code && !strings.ContainsAny(s.Text, "`\n") && strings.TrimSpace(s.Text) != "":
			strike := ""
			if s.Strike {
				strike = "~~"
			}
			for _, part := range [...]string{strike, "`", s.Text, "`", strike} {
				b.WriteString(part)
			}
		default:
			b.WriteString(styled(s))
		}
	}
	return b.String()
}

// Timed writes a text literally, with its times in the reader's zone.
func Timed(s string) string {
	var b strings.Builder
	for _, part := range render.Noted(s) {
		if part.Time != 0 {
			b.WriteString(inline([]render.Span{part}))
		} else {
			b.WriteString(Escape(part.Text))
		}
	}
	return b.String()
}

// styled wraps a text in its marks. Spaces at its ends stay outside of the
// marks, as Discord requires.
func styled(s render.Span) string {
	marks := ""
	for _, m := range []struct {
		on   bool
		mark string
	}{{s.Bold, "**"}, {s.Italic, "*"}, {s.Strike, "~~"}} {
		if m.on {
			marks += m.mark
		}
	}
	core := strings.TrimSpace(s.Text)
	if marks == "" || core == "" {
		return Escape(s.Text)
	}
	at := strings.Index(s.Text, core)
	return Escape(s.Text[:at]) + marks + Escape(core) + reverse(marks) + Escape(s.Text[at+len(core):])
}

// reverse closes marks in the order opposite to their opening.
func reverse(marks string) string {
	var out strings.Builder
	for rest := marks; rest != ""; {
		n := 1
		if len(rest) > 1 && rest[len(rest)-1] == rest[len(rest)-2] && !strings.HasSuffix(rest, "***") {
			n = 2
		}
		out.WriteString(rest[len(rest)-n:])
		rest = rest[:len(rest)-n]
	}
	return out.String()
}

// Escape makes text literal. Discord accepts a backslash before any ASCII
// punctuation. A line that starts with a list number gets one after the number.
func Escape(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var b strings.Builder
	b.Grow(len(s) + len(s)/8 + 8) // room for backslashes
	start := true                 // start of a line, after spaces and digits
	for n, r := range s {
		next, _ := utf8.DecodeRuneInString(s[n+utf8.RuneLen(r):])
		switch {
		case strings.ContainsRune("\\*_~`|<>#[]()@", r), start && (r == '-' || r == '+' || r == '.'),
			r == ':' && (next == '/' || unicode.IsLetter(next)): // an address or an emoji
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		start = r == '\n' || start && (r == ' ' || r >= '0' && r <= '9')
	}
	return b.String()
}
