package render

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/nodbridge/nod/bridge/visible"
)

// maxNesting limits the depth of lists and quotes. Deeper structure is shown
// flat, because Markdown from agents can nest without limit.
const maxNesting = 6

// Limits of the Markdown that is parsed: the time of the parser grows with the
// square of both, and readable text stays below them.
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
// their address, and images become links. The result is shared: nobody may
// change it.
func Markdown(src string) []Block { return texts.of(src) }

// texts keeps the most recent texts, because the card of each platform needs the
// same ones.
var texts = newMemo(parseMarkdown, func(doc []Block) bool { return weight(doc) <= memoWeight })

// weight returns the number of blocks and spans of a document.
func weight(doc []Block) int {
	n := len(doc)
	for _, b := range doc {
		n += len(b.Spans) + weight(b.Inner)
		for _, item := range b.Items {
			n += 1 + weight(item)
		}
	}
	return n
}

func parseMarkdown(src string) []Block {
	src = Clean(src)
	if unmarked(src) || hostile(src) {
		return []Block{Para(src)}
	}
	d := document{src, []byte(src)}
	return d.blocks(markdown().Parse(text.NewReader(d.raw)), 0)
}

// unmarked reports whether a text is one line that has no markup and that no
// parser has to read: words of ASCII that begin with a letter, without the
// characters that Markdown uses inside a line.
func unmarked(src string) bool {
	if !visible.IsLine(src) || src == "" || !isLetter(src[0]) {
		return false
	}
	return strings.IndexAny(src, "\\`*_[]<>&~!|") < 0
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// markdown is the parser. It is created once, because that takes longer than
// parsing most texts. It keeps no state between texts and is safe for
// concurrent use.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Strikethrough)).Parser()
})

// document is a text that was parsed. Its blocks share the memory of the text.
type document struct {
	src string
	raw []byte // src
}

func (d document) blocks(parent ast.Node, depth int) []Block {
	out := make([]Block, 0, parent.ChildCount())
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, Block{Kind: Heading, Spans: d.spans(n)})
		case *ast.FencedCodeBlock:
			out = append(out, Block{Kind: Code, Text: strings.TrimRight(d.lines(n), "\n"), Lang: string(n.Language(d.raw))})
		case *ast.CodeBlock:
			out = append(out, Block{Kind: Code, Text: strings.TrimRight(d.lines(n), "\n")})
		case *ast.Blockquote:
			if depth >= maxNesting {
				out = append(out, d.blocks(n, depth)...)
				continue
			}
			out = append(out, Block{Kind: Quote, Inner: d.blocks(n, depth+1)})
		case *ast.List:
			if depth >= maxNesting {
				for item := n.FirstChild(); item != nil; item = item.NextSibling() {
					out = append(out, d.blocks(item, depth)...)
				}
				continue
			}
			out = append(out, d.list(n, depth))
		case *ast.ThematicBreak:
			out = append(out, Block{Kind: Rule})
		case *ast.HTMLBlock:
			out = append(out, Para(strings.TrimRight(d.lines(n), "\n")))
		default: // Paragraph, TextBlock
			if s := d.spans(n); len(s) > 0 {
				out = append(out, Block{Kind: Paragraph, Spans: s})
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return slices.Clip(out)
}

func (d document) list(n *ast.List, depth int) Block {
	b := Block{Kind: List, Items: make([][]Block, 0, n.ChildCount())}
	if n.IsOrdered() {
		b.Start = max(1, n.Start)
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		b.Items = append(b.Items, d.blocks(item, depth+1))
	}
	return b
}

// lines returns the lines of a block, unchanged.
func (d document) lines(n ast.Node) string {
	all := n.Lines()
	from, to, whole := 0, 0, n.Kind() != ast.KindHTMLBlock
	for i := range all.Len() {
		s := all.At(i)
		if i == 0 {
			from, to = s.Start, s.Start
		}
		whole = whole && s.Start == to && s.Padding == 0 && !s.ForceNewline
		to = s.Stop
	}
	if whole {
		return d.src[from:to]
	}
	var b strings.Builder
	for i := range all.Len() {
		b.WriteString(d.text(all.At(i)))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.WriteString(d.text(h.ClosureLine))
	}
	return b.String()
}

// text returns the text of a segment.
func (d document) text(s text.Segment) string {
	if s.Padding == 0 && !s.ForceNewline {
		return d.src[s.Start:s.Stop]
	}
	return string(s.Value(d.raw))
}

// spans returns the text inside a node.
func (d document) spans(n ast.Node) []Span {
	r := runs{document: d, out: make([]Span, 0, n.ChildCount())}
	r.children(n, Span{})
	if len(r.out) == 0 {
		return nil
	}
	return slices.Clip(r.out)
}

// runs collects the spans of a text.
type runs struct {
	document
	out []Span
	// from is the start in the document of the text of the last span, and to
	// its end. To is zero if that text is not a part of the document.
	from, to int
	apart    bool // the next text begins a span of its own
}

// segment adds a part of the document.
func (r *runs) segment(s text.Segment, style Span) {
	if s.Padding != 0 || s.ForceNewline {
		r.add(string(s.Value(r.raw)), style)
		return
	}
	r.part(s.Start, s.Stop, style)
}

// part adds the document's text between two positions.
func (r *runs) part(from, to int, style Span) {
	if from == to {
		return
	}
	if from > 0 && from == r.to && r.continues(style) {
		r.to = to
		r.out[len(r.out)-1].Text = r.src[r.from:to]
		return
	}
	n := len(r.out)
	r.add(r.src[from:to], style)
	if len(r.out) > n {
		r.from, r.to = from, to
	}
}

// add adds a text, to the last span if that has the same style.
func (r *runs) add(s string, style Span) {
	if s == "" {
		return
	}
	if r.to = 0; r.continues(style) {
		r.out[len(r.out)-1].Text += s
		return
	}
	style.Text = s
	r.push(style)
}

// push adds a span.
func (r *runs) push(s Span) {
	r.out, r.to, r.apart = append(r.out, s), 0, false
}

// continues reports whether a text of a style is a part of the last span.
func (r *runs) continues(style Span) bool {
	if len(r.out) == 0 || r.apart {
		return false
	}
	last := r.out[len(r.out)-1]
	last.Text = style.Text
	return last == style
}

// newline adds a line break after a position of the document.
func (r *runs) newline(at int, style Span) {
	if at < len(r.src) && r.src[at] == '\n' {
		r.part(at, at+1, style)
		return
	}
	r.add("\n", style)
}

func (r *runs) children(parent ast.Node, style Span) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			r.segment(n.Segment, style)
			if n.HardLineBreak() || n.SoftLineBreak() {
				r.newline(n.Segment.Stop, style)
			}
		case *ast.String:
			r.add(string(n.Value), style)
		case *ast.CodeSpan:
			r.code(n, styled(n, style))
		case *ast.Link:
			r.link(n, string(n.Destination), style)
		case *ast.Image:
			r.link(n, string(n.Destination), style)
		case *ast.AutoLink:
			r.target(string(n.URL(r.raw)), style)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				r.segment(n.Segments.At(i), style)
			}
		default:
			r.group(n, styled(n, style))
		}
	}
}

// group adds the children of a node as spans of their own.
func (r *runs) group(n ast.Node, style Span) {
	n0, apart := len(r.out), r.apart
	r.apart = true
	r.children(n, style)
	if len(r.out) == n0 {
		r.apart = apart
	}
}

// code adds the text of a code span on one line.
func (r *runs) code(n *ast.CodeSpan, style Span) {
	if t, ok := n.FirstChild().(*ast.Text); ok && n.ChildCount() == 1 && !strings.Contains(r.text(t.Segment), "\n") && !t.HardLineBreak() && !t.SoftLineBreak() {
		r.segment(t.Segment, style)
		return
	}
	inner := runs{document: r.document}
	inner.children(n, style)
	for _, s := range inner.out {
		r.add(strings.ReplaceAll(s.Text, "\n", " "), style)
	}
}

// link adds a link as its text, followed by its address.
func (r *runs) link(n ast.Node, dest string, style Span) {
	n0 := len(r.out)
	r.group(n, style)
	if label := r.out[n0:]; len(label) == 0 || headText(label) == dest {
		r.out = r.out[:n0]
		r.target(dest, style)
		return
	}
	open, end := style, style
	open.Text, end.Text = " (", ")"
	r.push(open)
	r.target(dest, style)
	r.push(end)
}

// target adds the address of a link.
func (r *runs) target(dest string, style Span) {
	style.Text = dest
	if u, err := url.Parse(dest); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil {
		style.URL = dest
	}
	r.push(style)
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
