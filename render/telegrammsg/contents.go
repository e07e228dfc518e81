package telegrammsg

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// maxContents and maxContent are the lengths of the list of fields, and of one
// name in it, in characters.
const (
	maxContents = 600
	maxContent  = 40
)

// contents lists the fields of a form that no one has begun to fill in.
func contents(fields []bridge.Field) render.Block {
	required := 0
	names := make([]string, len(fields))
	for n, f := range fields {
		name := cmp.Or(render.Line(f.Header), render.Line(f.Text), f.ID)
		names[n] = render.Cut(name, maxContent, render.Runes)
		if f.IsRequired() {
			required++
		}
	}
	count := map[int]string{0: "none", len(fields): "all"}[required]
	text := fmt.Sprintf("%d fields, %s required: ", len(fields), cmp.Or(count, fmt.Sprint(required))) + strings.Join(names, " · ")
	return render.Block{Kind: render.Paragraph, Spans: []render.Span{{Text: render.Cut(text, maxContents, render.Runes), Italic: true}}}
}
