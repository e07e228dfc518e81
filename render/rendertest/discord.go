package rendertest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// Discord reads a message or a modal for Discord, whose texts are Markdown.
func Discord(p *page, o *object) {
	o.hide("custom_id") // chosen by the test
	if text := o.str("Push"); text != "" {
		p.add("!", text)
	}
	for _, key := range []string{"Users", "Roles"} {
		for _, id := range field[[]any](o, key) {
			p.add("!", fmt.Sprint("notifies ", strings.ToLower(key), " ", id))
		}
	}
	if o.has("title") {
		p.add("=", o.str("title"))
	}
	for _, c := range append(o.list("Components"), o.list("components")...) {
		discordPart(p, c)
	}
	file(p, o.sub("File"))
	if o.is("Closed") {
		p.add("|", "closed")
	}
}

// discordPart reads a component of a message or a modal.
func discordPart(p *page, c *object) {
	switch kind := c.num("type"); kind {
	case 1: // action row
		discordRow(p, c.list("components"))
	case 9: // section
		for _, t := range c.list("components") {
			discordPart(p, t)
		}
		discordRow(p, []*object{c.sub("accessory")})
	case 10: // text display
		p.add("", c.str("content"))
	case 13: // file
		p.add("+", "shows "+c.sub("file").str("url"))
		if c.is("spoiler") {
			fail("%s: a hidden file", c.at)
		}
	case 14: // separator
		p.add("", map[bool]string{true: "――――", false: " "}[c.is("divider")])
	case 17: // container
		p.add("|", fmt.Sprintf("#%06X", c.num("accent_color")))
		if c.is("spoiler") {
			fail("%s: a hidden card", c.at)
		}
		for _, part := range c.list("components") {
			discordPart(p, part)
		}
	case 18: // label
		discordInput(p, c, c.sub("component"))
	default:
		fail("%s: the reader does not know a component of type %d", c.at, kind)
	}
}

var discordStyles = []string{"", "blurple", "gray", "green", "red", "link"}

// discordRow reads a row of buttons, or a select.
func discordRow(p *page, row []*object) {
	var shown []string
	for _, c := range row {
		var more notes
		more.when(c.is("disabled"), "disabled")
		switch kind := c.num("type"); kind {
		case 2:
			style := c.num("style")
			if style < 1 || style >= len(discordStyles) {
				fail("%s: a button of style %d", c.at, style)
			}
			more.when(style != 2, "%s", discordStyles[style])
			more.when(c.str("url") != "", "opens %s", c.str("url"))
			shown = append(shown, "["+c.str("label")+sent(c.str("custom_id"))+more.String()+"]")
		case 3, 5:
			more.when(kind == 5, "all members")
			amount(c, &more)
			shown = append(shown, "[▾ "+c.str("placeholder")+sent(c.str("custom_id"))+more.String()+"]")
		default:
			fail("%s: the reader does not know a control of type %d", c.at, kind)
		}
	}
	p.lines = append(p.lines, strings.Join(shown, " "))
	for _, c := range row {
		p.choices("•", "·", discordOptions(c))
	}
}

func amount(c *object, more *notes) {
	more.when(c.has("min_values"), "%d or more", c.num("min_values"))
	more.when(c.has("max_values"), "%d at most", c.num("max_values"))
}

func discordOptions(c *object) []choice {
	var out []choice
	for _, o := range c.list("options") {
		out = append(out, choice{o.str("label"), o.str("description"), o.str("value"), o.is("default")})
	}
	return out
}

// discordInput reads an input of a modal with its label.
func discordInput(p *page, label, c *object) {
	kinds := map[int]string{3: "select", 4: "text", 21: "radio group", 22: "checkbox group"}
	kind := c.num("type")
	if kinds[kind] == "" {
		fail("%s: the reader does not know an input of type %d", c.at, kind)
	}
	var more notes
	more.when(c.has("required") && !c.is("required"), "optional")
	more.when(c.is("required"), "required")
	styles := []string{"", "one line", "several lines"}
	if n := c.num("style"); n < 0 || n >= len(styles) || (n == 0) == (kind == 4) {
		fail("%s: a text of style %d", c.at, n)
	}
	more.when(c.has("style"), "%s", styles[c.num("style")])
	amount(c, &more)
	more.when(c.has("min_length"), "%d or more characters", c.num("min_length"))
	more.when(c.has("max_length"), "%d characters", c.num("max_length"))
	more.when(c.has("placeholder"), "placeholder %q", c.str("placeholder"))
	p.add("?", label.str("label")+": "+kinds[kind]+more.String()+sent(c.str("custom_id")))
	if c.has("value") {
		p.add("✎", c.str("value"))
	}
	on, off := "•", "·"
	switch kind {
	case 21:
		on, off = "(•)", "( )"
	case 22:
		on, off = "[x]", "[ ]"
	}
	p.choices(on, off, discordOptions(c))
	if hint := label.str("description"); hint != "" {
		p.add("-", hint)
	}
}

// file reads an attachment: its first and last lines, and the digest of its
// content.
func file(p *page, f *object) {
	if len(f.fields) == 0 {
		return
	}
	data, err := base64.StdEncoding.DecodeString(f.str("Data"))
	if err != nil {
		fail("%s: %v", f.at, err)
	}
	lines := strings.Split(string(data), "\n")
	p.add("+", fmt.Sprintf("%s, %d bytes, SHA-256 %.3x…", f.str("Name"), len(data), sha256.Sum256(data)))
	if len(lines) > 6 {
		lines = slices.Concat(lines[:3], []string{"…"}, lines[len(lines)-3:])
	}
	p.add("+", "  "+strings.Join(lines, "\n  "))
}
