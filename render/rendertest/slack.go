package rendertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Slack reads a message, a modal or a Home tab for Slack.
func Slack(p *page, o *object) {
	if text := o.str("Text"); text != "" {
		p.add("!", text)
	}
	if o.has("title") {
		p.add("=", fmt.Sprintf("%s [%s%s] [%s]", slackText(o.sub("title")), slackText(o.sub("submit")), sent(o.str("private_metadata")), slackText(o.sub("close"))))
	}
	switch kind, id := o.str("type"), o.str("callback_id"); {
	case o.has("Blocks"): // a message
	case kind == "modal" && id == "nod", kind == "home":
	default:
		fail("%s: a view of type %q for %q", o.at, kind, id)
	}
	for _, b := range append(o.list("Blocks"), o.list("blocks")...) {
		slackBlock(p, b)
	}
}

func slackBlock(p *page, b *object) {
	id, _, _ := strings.Cut(b.str("block_id"), "-")
	switch kind := b.str("type"); kind {
	case "rich_text":
		for _, e := range b.list("elements") {
			richText(p, e)
		}
	case "header":
		p.add("#", slackText(b.sub("text")))
	case "divider":
		p.add("--", "--")
	case "section":
		p.add("", slackText(b.sub("text")))
		for _, f := range b.list("fields") {
			p.add("-", slackText(f))
		}
		if !b.is("expand") {
			fail("%s: Slack may fold the text", b.at)
		}
		if b.has("accessory") {
			slackRow(p, []*object{b.sub("accessory")})
		}
	case "context":
		for _, e := range b.list("elements") {
			p.add("-", slackText(e))
		}
	case "actions":
		slackRow(p, b.list("elements"))
	case "input":
		var more notes
		more.when(b.is("optional"), "optional")
		slackInput(p, slackText(b.sub("label")), b.sub("element"), more, id)
		if b.has("hint") {
			p.add("-", slackText(b.sub("hint")))
		}
	default:
		fail("%s: the reader does not know a block of type %q", b.at, kind)
	}
}

// slackText reads a text object. It shows the markup unparsed.
func slackText(o *object) string {
	text := o.str("text")
	switch kind := o.str("type"); {
	case kind == "plain_text" && o.has("emoji") && !o.is("emoji"):
	case kind == "mrkdwn" && o.is("verbatim"):
	case kind != "":
		fail("%s: Slack may change the text %q of type %q", o.at, text, kind)
	}
	return text
}

// richText reads an element of a rich_text block.
func richText(p *page, e *object) {
	if e.num("border") != 0 {
		fail("%s: an element with a border", e.at)
	}
	kind := map[string]string{"rich_text_section": "", "rich_text_quote": ">", "rich_text_preformatted": "`"}
	switch name := e.str("type"); name {
	case "rich_text_section", "rich_text_quote", "rich_text_preformatted":
		p.apart(kind[name])
		p.add(kind[name], leaves(e, name == "rich_text_preformatted"))
	case "rich_text_list":
		mark := e.str("style")
		for n, item := range e.list("elements") {
			if item.str("type") != "rich_text_section" {
				fail("%s: an item of type %q", item.at, item.str("type"))
			}
			switch mark {
			case "bullet":
				p.add("•", strings.Repeat("  ", e.num("indent"))+leaves(item, false))
			case "ordered":
				p.add(strconv.Itoa(e.num("offset")+n+1)+".", strings.Repeat("  ", e.num("indent"))+leaves(item, false))
			default:
				fail("%s: a list of style %q", e.at, mark)
			}
		}
		if mark == "bullet" && e.num("offset") != 0 {
			fail("%s: bullets with an offset", e.at)
		}
	default:
		fail("%s: the reader does not know an element of type %q", e.at, name)
	}
}

// leaves reads the texts of an element.
func leaves(e *object, verbatim bool) string {
	var runs []run
	for _, l := range e.list("elements") {
		r := run{text: l.str("text")}
		style := l.sub("style")
		for _, m := range [][2]string{{"bold", bold}, {"italic", italic}, {"strike", strike}, {"code", code}} {
			if style.is(m[0]) {
				r.marks = append(r.marks, m[1])
			}
		}
		switch kind := l.str("type"); kind {
		case "text":
			if !verbatim && !slices.Contains(r.marks, code) {
				r.text = literal.Replace(r.text)
			}
		case "link":
			if r.text != l.str("url") && !opensCard(r.text) {
				fail("%s: the text %q hides a link to %s", l.at, r.text, l.str("url"))
			}
			r.text = linked(r.text, l.str("url"))
		case "date":
			seconds := map[string]bool{"{date_short_pretty} at {time}": false, "{date_short_pretty} at {time_secs}": true}
			exact, known := seconds[l.str("format")]
			if !known {
				fail("%s: the format of a time is %q", l.at, l.str("format"))
			}
			r.text = moment(l.num("timestamp"), exact, l.str("fallback"))
		default:
			fail("%s: the reader does not know a text of type %q", l.at, kind)
		}
		if verbatim && len(r.marks) > 0 {
			fail("%s: code with a style", l.at)
		}
		runs = append(runs, r)
	}
	return marked(runs)
}

// moment writes a time in the form that readers see in their own zone, and its
// fallback text.
func moment(unix int, exact bool, words string) string {
	layout := "Jan 2, 15:04 MST"
	if exact {
		layout = "Jan 2, 15:04:05 MST"
	}
	at := time.Unix(int64(unix), 0).UTC()
	if at.Format(layout) != words {
		fail("the time %s reads %q", at, words)
	}
	return fmt.Sprintf("{%s, %d}", words, at.Year())
}

// slackRow reads a row of controls. The text that a screen reader adds to the
// label of a button has a line of its own. No two buttons on a card may sound
// the same.
func slackRow(p *page, row []*object) {
	var shown []string
	about := ""
	for _, e := range row {
		text, said := slackControl(e)
		if label := e.str("accessibility_label"); label != "" || said != "" {
			after, ok := strings.CutPrefix(label, said+": ")
			if !ok || p.said[label] || about != "" && !sameStart(after, about, label) && !sameStart(about, after, label) {
				fail("%s: a screen reader says %q, about %q", e.at, label, about)
			}
			if p.said[label] = true; len(after) > len(about) {
				about = after
			}
		}
		shown = append(shown, text)
	}
	p.lines = append(p.lines, strings.Join(shown, " "))
	for _, e := range row {
		slackMenu(p, e)
	}
	if about != "" {
		p.add("-", "read aloud: …: "+about)
	}
}

// sameStart reports whether a is b, or the start of b in a label of Slack's
// maximum length.
func sameStart(a, b, label string) bool {
	long := len(label)+3*strings.Count(label, "<")+3*strings.Count(label, ">") > 70
	return a == b || long && strings.HasSuffix(a, "…") && strings.HasPrefix(b, strings.TrimSuffix(a, "…"))
}

// slackControl returns a control of a row, and the label of a button for a
// screen reader.
func slackControl(e *object) (text, said string) {
	id := e.str("action_id")
	switch kind := e.str("type"); kind {
	case "button":
		label := slackText(e.sub("text"))
		var more notes
		more.when(e.str("style") != "", "%s", e.str("style"))
		more.when(e.str("url") != "", "opens %s", e.str("url"))
		return "[" + label + sent(e.str("value")) + more.String() + "]", strings.TrimSuffix(label, "…")
	case "overflow":
		return "[⋯]", ""
	case "static_select":
		return "[▾ " + slackText(e.sub("placeholder")) + sent(id) + "]", ""
	case "users_select":
		return "[▾ " + slackText(e.sub("placeholder")) + ", all people" + sent(id) + "]", ""
	default:
		fail("%s: the reader does not know a control of type %q", e.at, kind)
		return "", ""
	}
}

// slackMenu reads the options of a control, and the question in its
// confirmation dialog.
func slackMenu(p *page, e *object) {
	p.choices("•", "·", slackOptions(e, nil))
	if c := e.sub("confirm"); len(c.fields) > 0 {
		p.add("-", fmt.Sprintf("asks: %s %s [%s] [%s]", slackText(c.sub("title")), slackText(c.sub("text")), slackText(c.sub("confirm")), slackText(c.sub("deny"))))
	}
}

// slackOptions reads options and marks the chosen ones.
func slackOptions(e *object, chosen []*object) []choice {
	values := map[string]string{}
	for _, c := range chosen {
		values[c.str("value")] = slackText(c.sub("text")) + slackText(c.sub("description"))
	}
	var out []choice
	for _, o := range e.list("options") {
		c := choice{slackText(o.sub("text")), slackText(o.sub("description")), o.str("value"), false}
		label, ok := values[c.value]
		c.chosen = ok
		if ok && label != c.label+c.hint {
			fail("%s: the chosen option is %q", o.at, label)
		}
		delete(values, c.value)
		out = append(out, c)
	}
	if len(values) > 0 {
		fail("%s: %v is not an option", e.at, values)
	}
	return out
}

// slackInput reads an input of a modal or a message.
func slackInput(p *page, label string, e *object, more notes, id string) {
	kind := e.str("type")
	e.hide("action_id")
	placeholder, initial := slackText(e.sub("placeholder")), ""
	for _, key := range []string{"initial_value", "initial_date", "initial_time"} {
		initial += e.str(key)
	}
	if at := e.num("initial_date_time"); at != 0 {
		initial = time.Unix(int64(at), 0).UTC().Format(time.RFC3339)
	}
	more.when(e.is("multiline"), "several lines")
	more.when(e.is("focus_on_load"), "focused")
	more.when(e.is("is_decimal_allowed"), "decimals")
	more.when(e.has("min_length"), "%d or more characters", e.num("min_length"))
	more.when(e.has("max_length"), "%d characters", e.num("max_length"))
	more.when(e.str("min_value") != "", "from %s", e.str("min_value"))
	more.when(e.str("max_value") != "", "to %s", e.str("max_value"))
	more.when(e.has("max_selected_items"), "%d at most", e.num("max_selected_items"))
	more.when(placeholder != "", "placeholder %q", placeholder)
	p.add("?", label+": "+strings.ReplaceAll(kind, "_", " ")+more.String()+sent(id))
	switch kind {
	case "plain_text_input", "number_input", "datepicker", "timepicker", "datetimepicker", "email_text_input", "url_text_input":
		if initial != "" {
			p.add("✎", initial)
		}
	case "radio_buttons":
		p.choices("(•)", "( )", slackOptions(e, one(e)))
	case "checkboxes":
		p.choices("[x]", "[ ]", slackOptions(e, e.list("initial_options")))
	case "static_select":
		p.choices("•", "·", slackOptions(e, one(e)))
	case "multi_static_select":
		p.choices("•", "·", slackOptions(e, e.list("initial_options")))
	default:
		fail("%s: the reader does not know an input of type %q", e.at, kind)
	}
}

// one returns the chosen option as a list, or an empty list.
func one(e *object) []*object {
	if !e.has("initial_option") {
		return nil
	}
	return []*object{e.sub("initial_option")}
}
