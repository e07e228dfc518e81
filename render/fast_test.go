package render

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
)

// fragments are parts of texts that make Markdown, or almost do.
var fragments = []string{
	"Deploy", "a", "z9", " ", "  ", ".", "?", "'", "\"", "/", "1.", "2)", "-", "- ", "+ ", "*", "**", "_", "__", "`", "``", "~~", "#", "# ", "=", "---", "===", ":", "http://a.example/?q=1",
	"[l](https://a.example)", "<b>", "<https://a.example>", "&amp;", "&", "|", "!", "\\", "\n", "\n\n", "\t", "> ", "    ", "```\n", "```sh\n", "é", "日", "😀", "\u200b", "(", ")", "@x", "<!-- c -->",
}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 14).Draw(t, "text"), "")
}

// TestUnmarked checks that a text which is not parsed, because it has no markup,
// would be the same if it were.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := "a" + drawText(t)
		if !unmarked(src) {
			return
		}
		parsed := document{src, []byte(src)}.blocks(markdown().Parse(text.NewReader([]byte(src))), 0)
		if got := parseMarkdown(src); !reflect.DeepEqual(got, parsed) {
			t.Fatalf("%q: %+v, parsed %+v", src, got, parsed)
		}
	})
	for _, src := range []string{"", " a", "1. a", "- a", "a *b*", "a\nb", "a ", "é", "a & b"} {
		if unmarked(src) {
			t.Errorf("%q is not parsed", src)
		}
	}
}

// TestSharedTexts checks that usual results are kept, and that those which would
// take much memory are not.
func TestSharedTexts(t *testing.T) {
	t.Parallel()
	kept := func(src string) bool { return &Markdown(src)[0] == &Markdown(src)[0] }
	usual, many, long := "Deploy **it**, see:\n\n- the plan", strings.Repeat("*a* ", memoWeight), strings.Repeat("a", memoText+1)
	if !kept(usual) || kept(many) || kept(long) {
		t.Errorf("kept: usual %t, many parts %t, long %t", kept(usual), kept(many), kept(long))
	}
	same := func(raw string) bool {
		return reflect.ValueOf(object([]byte(raw))).Pointer() == reflect.ValueOf(object([]byte(raw))).Pointer()
	}
	if !same(`{"command":"ls"}`) || same(`{"a":[`+strings.Repeat("[],", memoWeight)+`1]}`) {
		t.Error("an input with many values is kept, or a usual one is not")
	}
}

// plainOf is [PlainText] without its shortcuts.
func plainOf(doc []Block, indent string) string {
	var b strings.Builder
	lines := func(s, first, next string) {
		for n, line := range strings.Split(s, "\n") {
			if n == 0 {
				b.WriteString(first + line + "\n")
			} else {
				b.WriteString(next + line + "\n")
			}
		}
	}
	for n, blk := range doc {
		if n > 0 && (blk.Kind != List || doc[n-1].Kind != Paragraph) {
			b.WriteString("\n")
		}
		switch blk.Kind {
		case Paragraph, Heading:
			lines(headText(blk.Spans), indent, indent)
		case Code:
			lines(blk.Text, indent+"    ", indent+"    ")
		case Quote:
			b.WriteString(plainOf(blk.Inner, indent+"> "))
		case Rule:
			b.WriteString(indent + "---\n")
		case List:
			for k, item := range blk.Items {
				mark := "- "
				if blk.Start > 0 {
					mark = strconv.Itoa(blk.Start+k) + ". "
				}
				lines(strings.TrimRight(plainOf(item, ""), "\n"), indent+mark, indent+strings.Repeat(" ", len(mark)))
			}
		}
	}
	return b.String()
}

func drawDocument(t *rapid.T, depth int) []Block {
	var doc []Block
	for range rapid.IntRange(0, 3).Draw(t, "blocks") {
		b := Block{Kind: BlockKind(rapid.IntRange(int(Paragraph), int(Rule)).Draw(t, "kind"))}
		switch b.Kind {
		case Paragraph, Heading:
			for range rapid.IntRange(0, 3).Draw(t, "spans") {
				b.Spans = append(b.Spans, Span{Text: drawText(t)})
			}
		case Code:
			b.Text = drawText(t)
		case Quote:
			if depth > 0 {
				b.Inner = drawDocument(t, depth-1)
			}
		case List:
			b.Start = rapid.IntRange(0, 11).Draw(t, "start")
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				var item []Block
				if depth > 0 {
					item = drawDocument(t, depth-1)
				}
				b.Items = append(b.Items, item)
			}
		}
		doc = append(doc, b)
	}
	return doc
}

// TestPlainText checks that the text of any document is that of the plain rules.
func TestPlainText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t, 3)
		want := strings.TrimRight(plainOf(doc, ""), "\n")
		if got := PlainText(doc); got != want || PlainLen(doc) != len(want) {
			t.Fatalf("%q, length %d; want %q", got, PlainLen(doc), want)
		}
	})
}

// TestBoilerplate checks which prompts say nothing, against the list of all of
// them.
func TestBoilerplate(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"Bash", "", "change files", "use", "a in b", `"`} {
		for _, where := range []string{"", "/srv", "b"} {
			i := bridge.Interaction{Agent: "bot", Ask: bridge.Ask{Approval: &bridge.Approval{Tool: tool, Where: where}}}
			list := []string{"Run this command?", "Allow " + tool + "?", `Allow "` + tool + `"?`, tool}
			for _, who := range []string{"Claude Code", "Codex", "The agent", i.Agent} {
				list = append(list, who+" wants to use "+tool, who+" wants to run a command", who+" wants to change files", who+" wants to do "+tool)
			}
			if where != "" {
				for _, s := range slices.Clone(list) {
					list = append(list, s+" in "+where)
				}
			}
			for _, s := range list {
				for _, text := range []string{s, s + "x", s + " ", s + " in ", s + " in /srv", s + " in b", "x" + s, strings.TrimSpace(s), strings.TrimSuffix(s, tool), fmt.Sprintf("Allow %q", tool), "Somebody wants to use " + tool} {
					if got, want := boilerplate(i, text), slices.Contains(list, text); got != want {
						t.Errorf("tool %q in %q: %q is boilerplate: %t", tool, where, text, got)
					}
				}
			}
		}
	}
}

// referenceSpans are the spans inside a node by the plain rules: each text is a
// copy, and each node has spans of its own.
func referenceSpans(parent ast.Node, src []byte, style Span) []Span {
	var out []Span
	add := func(s string, style Span) {
		style.Text = s
		if last := len(out) - 1; s != "" && last >= 0 {
			if before := out[last]; before == (Span{
				Text: before.Text, Bold: style.Bold, Italic: style.Italic, Strike: style.Strike, Code: style.Code,
			}) {
				out[last].Text += s
				return
			}
		}
		if s != "" {
			out = append(out, style)
		}
	}
	link := func(n ast.Node, dest string) {
		label := referenceSpans(n, src, style)
		target := style
		if target.Text = dest; strings.HasPrefix(dest, "https://") {
			target.URL = dest
		}
		if s := headText(label); s == "" || s == dest {
			out = append(out, target)
			return
		}
		open, end := style, style
		open.Text, end.Text = " (", ")"
		out = append(append(append(out, label...), open), target, end)
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			add(string(n.Segment.Value(src)), style)
			if n.HardLineBreak() || n.SoftLineBreak() {
				add("\n", style)
			}
		case *ast.CodeSpan:
			for _, s := range referenceSpans(n, src, styled(n, style)) {
				add(strings.ReplaceAll(s.Text, "\n", " "), styled(n, style))
			}
		case *ast.Link:
			link(n, string(n.Destination))
		case *ast.Image:
			link(n, string(n.Destination))
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				add(string(seg.Value(src)), style)
			}
		case *ast.AutoLink:
			link(ast.NewParagraph(), string(n.URL(src)))
		default:
			out = append(out, referenceSpans(n, src, styled(n, style))...)
		}
	}
	return out
}

// TestSpans checks that the spans which share the memory of the document are
// those of the plain rules.
func TestSpans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ReplaceAll(Clean(drawText(t)+drawText(t)), "http://a", "https://a")
		d := document{src, []byte(src)}
		root := markdown().Parse(text.NewReader(d.raw))
		for n := root.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() != ast.KindParagraph && n.Kind() != ast.KindHeading {
				continue
			}
			if got, want := d.spans(n), referenceSpans(n, d.raw, Span{}); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %+v, want %+v", src, got, want)
			}
		}
	})
}
