package widgetblock

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

const fence = "```"

// Block returns the block that an assistant includes in its text.
func (p Payload) Block() (string, error) {
	raw, err := dialect.Encode(p)
	return fence + "widget\n" + string(raw) + "\n" + fence, err
}

// Blocks returns the widget blocks in an assistant's text in their order. The
// rest of the text belongs to each of them, and people see it with the widget.
// If some blocks are not widgets, Blocks returns the others, and an error with
// the number of each invalid block. Text without blocks is not an error.
func Blocks(text string) ([]Payload, error) {
	var out []Payload
	var words []string
	var numbers []int // numbers of the blocks in out
	var wrong problems
	seen, n := map[string]bool{}, 0
	for _, part := range split(text) {
		if !part.widget {
			words = append(words, part.text)
			continue
		}
		n++
		p, err := Decode([]byte(part.text))
		switch {
		case !part.closed:
			err = bridge.Errorf(bridge.CodeInvalid, "not closed")
		case err == nil && seen[p.WidgetID]:
			err = bridge.Errorf(bridge.CodeInvalid, "widgetId: duplicate ID %q", p.WidgetID)
		}
		if err != nil {
			wrong.add(n, err)
			words = append(words, dialect.Fenced(strings.TrimSpace(part.text)))
			continue
		}
		seen[p.WidgetID] = true
		out, numbers = append(out, p), append(numbers, n)
	}
	around := joined(words)
	shown := out[:0]
	for k, p := range out {
		if p.Around = around; len(around) > bridge.MaxPrompt-len(p.Message)-2 && around != "" {
			wrong.add(numbers[k], bridge.Errorf(bridge.CodeInvalid, "the message has too much text around its widgets: %d bytes", len(around)))
			continue
		}
		shown = append(shown, p)
	}
	return shown, wrong.err()
}

// problems collects the problems with the blocks of a text.
type problems struct {
	all  []bridge.FieldError
	hint string
}

func (p *problems) add(block int, err error) {
	e := bridge.PublicError(err)
	p.all = append(p.all, bridge.FieldError{Field: "widget block " + strconv.Itoa(block), Message: e.Message})
	p.hint = cmp.Or(p.hint, e.Hint)
}

func (p *problems) err() error {
	if len(p.all) == 0 {
		return nil
	}
	return bridge.Invalid(p.all...).WithHint("%s", p.hint)
}

// joined returns the nonblank parts of a text as paragraphs.
func joined(parts []string) string {
	var out []string
	for _, s := range parts {
		if s = strings.Trim(s, "\n"); strings.TrimSpace(s) != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n\n")
}

// part is a widget block of a text, or the text between two blocks.
type part struct {
	text           string
	widget, closed bool
}

// split returns the parts of a text in their order.
func split(text string) []part {
	var out []part
	inside, other := false, false
	var body strings.Builder
	end := func(p part) {
		p.text = body.String()
		body.Reset()
		if p.widget || p.text != "" {
			out = append(out, p)
		}
	}
	for line := range strings.Lines(text) {
		mark := strings.TrimSpace(line)
		switch {
		case inside && mark == fence:
			inside = false
			end(part{widget: true, closed: true})
			continue
		case inside:
		case other:
			other = mark != fence
		case mark == fence+"widget":
			end(part{})
			inside = true
			continue
		case strings.HasPrefix(mark, fence):
			other = true // a block in another language
		}
		body.WriteString(line)
	}
	end(part{widget: inside})
	return out
}
