package render

import (
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxNesting limits the depth of lists and quotes. Deeper structure is shown
// flat, because Markdown from agents can nest without limit.
const maxNesting = 6

// Limits of the Markdown that is parsed. The parser takes quadratic time in
// both, and readable text stays below them.
const (
	maxMarkers  = 32   // quote and list markers at the start of one line
	maxBrackets = 2000 // in one text
)

// hostile reports whether parsing a text would take too long. Such a text is
// shown unparsed.
func hostile(src string) bool {
	if strings.Count(src, "[") > maxBrackets {
		return true
	}
	for line := range strings.Lines(src) {
		if markers(line) > maxMarkers {
			return true
		}
	}
	return false
}

// markers returns the number of quote and list markers at the start of a line.
func markers(line string) int {
	for n := 0; ; n++ {
		line = strings.TrimLeft(line, " \t")
		rest := strings.TrimLeft(line, "0123456789")
		switch {
		case strings.HasPrefix(line, ">"):
			line = line[1:]
		case len(rest) > 1 && (len(rest) < len(line) && strings.ContainsRune(".)", rune(rest[0])) || len(rest) == len(line) && strings.ContainsRune("-*+", rune(rest[0]))) && (rest[1] == ' ' || rest[1] == '\t'):
			line = rest[2:]
		default:
			return n
		}
	}
}

// Markdown parses an agent's Markdown. HTML stays literal text, links show
// their address, and images become links. Each block has text. A text that is only
// markup stays unchanged.
func Markdown(src string) []Block {
	src = Clean(src)
	if hostile(src) {
		return []Block{Para(gaps(src, ""))}
	}
	source := []byte(src)
	out := filled(blocks(markdown().Parse(text.NewReader(source)), source, 0))
	if len(out) == 0 && strings.TrimSpace(src) != "" {
		return []Block{Para(gaps(strings.TrimSpace(src), ""))}
	}
	return out
}

// filled returns the blocks that have text, including nested blocks. Markdown
// can have empty quotes, headings and lists anywhere, but no platform accepts
// them.
func filled(doc []Block) []Block {
	var out []Block
	for _, b := range doc {
		text := ""
		switch b.Kind {
		case Paragraph, Heading:
			text = headText(b.Spans)
		case Code:
			text = b.Text
		case Quote:
			b.Inner = filled(b.Inner)
			text = PlainText(b.Inner)
		case List:
			for n, item := range b.Items {
				b.Items[n] = filled(item)
				text += PlainText(b.Items[n])
			}
		case Rule:
			text = "―"
		}
		if strings.TrimSpace(text) != "" {
			out = append(out, b)
		}
	}
	return out
}

// markdown returns the parser. It is created once, because its creation takes
// longer than parsing most texts. It is stateless and safe for concurrent use.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Strikethrough)).Parser()
})

func blocks(parent ast.Node, src []byte, depth int) []Block {
	var out []Block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, Block{Kind: Heading, Spans: spans(n, src, Span{})})
		case *ast.FencedCodeBlock:
			out = append(out, Block{Kind: Code, Text: gaps(strings.TrimRight(rawLines(n, src), "\n"), ""), Lang: string(n.Language(src))})
		case *ast.CodeBlock:
			out = append(out, Block{Kind: Code, Text: gaps(strings.TrimRight(rawLines(n, src), "\n"), "")})
		case *ast.Blockquote:
			if depth >= maxNesting {
				out = append(out, blocks(n, src, depth)...)
				continue
			}
			out = append(out, Block{Kind: Quote, Inner: blocks(n, src, depth+1)})
		case *ast.List:
			if depth >= maxNesting {
				for item := n.FirstChild(); item != nil; item = item.NextSibling() {
					out = append(out, blocks(item, src, depth)...)
				}
				continue
			}
			out = append(out, list(n, src, depth))
		case *ast.ThematicBreak:
			out = append(out, Block{Kind: Rule})
		case *ast.HTMLBlock:
			out = append(out, Para(gaps(strings.TrimRight(rawLines(n, src), "\n"), "")))
		default: // Paragraph, TextBlock
			if s := spans(n, src, Span{}); len(s) > 0 {
				out = append(out, Block{Kind: Paragraph, Spans: s})
			}
		}
	}
	return out
}

func list(n *ast.List, src []byte, depth int) Block {
	b := Block{Kind: List}
	if n.IsOrdered() {
		b.Start = max(1, n.Start)
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		b.Items = append(b.Items, blocks(item, src, depth+1))
	}
	return b
}

func rawLines(n ast.Node, src []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.Write(h.ClosureLine.Value(src))
	}
	return b.String()
}

func spans(parent ast.Node, src []byte, style Span) []Span {
	var out runs
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out.add(gaps(string(n.Segment.Value(src)), ""), style)
			if n.HardLineBreak() || n.SoftLineBreak() {
				out.add("\n", style)
			}
		case *ast.String:
			out.add(string(n.Value), style)
		case *ast.CodeSpan:
			style := styled(n, style)
			for _, s := range spans(n, src, style) {
				out.add(strings.ReplaceAll(s.Text, "\n", " "), style)
			}
		case *ast.Link:
			out.push(link(spans(n, src, style), string(n.Destination), style)...)
		case *ast.Image:
			out.push(link(spans(n, src, style), string(n.Destination), style)...)
		case *ast.AutoLink:
			out.push(link(nil, string(n.URL(src)), style)...)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				out.add(string(seg.Value(src)), style)
			}
		default:
			out.push(spans(n, src, styled(n, style))...)
		}
	}
	return out.all()
}

// runs collects spans, and joins adjacent spans of the same style.
type runs struct {
	spans []Span
	more  strings.Builder // text after the last span, in the style of that span
}

// add adds a text.
func (r *runs) add(s string, style Span) {
	if s == "" {
		return
	}
	style.Text = s
	if n := len(r.spans); n > 0 {
		last := r.spans[n-1]
		last.Text = s
		if last == style {
			r.more.WriteString(s)
			return
		}
	}
	r.push(style)
}

// push adds spans that are not joined with the text before them.
func (r *runs) push(spans ...Span) { r.spans = append(r.all(), spans...) }

// all returns the spans.
func (r *runs) all() []Span {
	if r.more.Len() > 0 {
		r.spans[len(r.spans)-1].Text += r.more.String()
		r.more.Reset()
	}
	return r.spans
}

// styled returns the style of the texts inside a node.
func styled(n ast.Node, style Span) Span {
	switch n := n.(type) {
	case *ast.CodeSpan:
		style.Code = true
	case *east.Strikethrough:
		style.Strike = true
	case *ast.Emphasis:
		style.Italic = style.Italic || n.Level == 1
		style.Bold = style.Bold || n.Level != 1
	}
	return style
}

// link shows a link as its text, followed by its address.
func link(label []Span, dest string, style Span) []Span {
	var plain strings.Builder
	for _, s := range label {
		plain.WriteString(s.Text)
	}
	target := style
	target.Text = dest
	if u, err := url.Parse(dest); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil {
		target.URL = dest
	}
	if plain.Len() == 0 || plain.String() == dest {
		return []Span{target}
	}
	open, end := style, style
	open.Text, end.Text = " (", ")"
	return append(append(label, open), target, end)
}
