package console

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/render"
)

// html returns a document as HTML. Every text is escaped. Links show their
// destination and send no referrer.
func html(doc []render.Block) string {
	var b strings.Builder
	for _, block := range doc {
		writeBlock(&b, block)
	}
	return b.String()
}

// inline returns a line of text as HTML.
func inline(spans []render.Span) string {
	var b strings.Builder
	writeSpans(&b, spans)
	return b.String()
}

func writeBlock(b *strings.Builder, x render.Block) {
	switch x.Kind {
	case render.Heading:
		b.WriteString(`<p class="heading">`)
		writeSpans(b, x.Spans)
		b.WriteString("</p>")
	case render.Code:
		b.WriteString(`<pre tabindex="0" translate="no"><code>`)
		writeCode(b, x)
		b.WriteString("</code></pre>")
	case render.List:
		tag := "ul"
		if x.Start > 0 {
			tag = "ol"
			b.WriteString(`<ol start="` + strconv.Itoa(x.Start) + `">`)
		} else {
			b.WriteString("<ul>")
		}
		for _, item := range x.Items {
			b.WriteString("<li>" + html(item) + "</li>")
		}
		b.WriteString("</" + tag + ">")
	case render.Quote:
		b.WriteString("<blockquote>" + html(x.Inner) + "</blockquote>")
	case render.Rule:
		b.WriteString("<hr>")
	default:
		b.WriteString("<p>")
		writeSpans(b, x.Spans)
		b.WriteString("</p>")
	}
}

// writeCode writes the text of a code block. It marks the lines of a diff.
func writeCode(b *strings.Builder, x render.Block) {
	if x.Lang != "diff" {
		b.WriteString(template.HTMLEscapeString(x.Text))
		return
	}
	for line := range strings.Lines(x.Text) {
		text := template.HTMLEscapeString(line)
		switch {
		case strings.HasPrefix(line, "+"):
			text = `<span class="add">` + text + "</span>"
		case strings.HasPrefix(line, "-"):
			text = `<span class="del">` + text + "</span>"
		}
		b.WriteString(text)
	}
}

func writeSpans(b *strings.Builder, spans []render.Span) {
	for _, s := range spans {
		var after string
		for _, style := range []struct {
			on   bool
			tag  string
			more string
		}{{s.Bold, "strong", ""}, {s.Italic, "em", ""}, {s.Strike, "s", ""}, {s.Code, "code", ` translate="no"`}} {
			if style.on {
				b.WriteString("<" + style.tag + style.more + ">")
				after = "</" + style.tag + ">" + after
			}
		}
		text := strings.ReplaceAll(template.HTMLEscapeString(s.Text), "\n", "<br>")
		if strings.HasPrefix(s.URL, "https://") || strings.HasPrefix(s.URL, "http://") {
			text = `<a rel="noreferrer noopener nofollow" target="_blank" href="` + template.HTMLEscapeString(s.URL) + `">` + text + "</a>"
		}
		b.WriteString(text + after)
	}
}
