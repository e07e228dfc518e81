package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

type slackSurface string

const (
	slackInMessage slackSurface = "message"
	slackInModal   slackSurface = "modal"
)

// slackChecker collects what Slack would refuse, each with its JSON pointer.
type slackChecker struct {
	surface  slackSurface
	problems []string
	blockIDs map[string]bool
	actions  map[string]bool
}

func slackBlockError(problems []string) object {
	return object{"error": "invalid_blocks", "errors": problems, "response_metadata": object{"messages": problems}}
}

// checkSlackBlocks checks blocks against the published limits of Block Kit.
func checkSlackBlocks(blocks []any, surface slackSurface) []string {
	c := slackChecker{surface: surface, blockIDs: map[string]bool{}}
	most := 50
	if surface == slackInModal {
		most = 100
	}
	if len(blocks) > most {
		c.fail("/blocks", "no more than %d items allowed", most)
	}
	for n, b := range blocks {
		o, ok := b.(object)
		if !ok {
			c.fail("/blocks", "must be a list of objects")
			continue
		}
		c.block(fmt.Sprintf("/blocks/%d", n), o)
	}
	return c.problems
}

func (c *slackChecker) fail(at, format string, args ...any) {
	c.problems = append(c.problems, "[ERROR] "+fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// slackLength counts UTF-16 units with &, < and > as their entities, the
// strictest of the known ways to count.
func slackLength(s string) int {
	s = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(s)
	return len(utf16.Encode([]rune(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s))))
}

// slackSize is the size of a message by its JSON.
func slackSize(blocks []any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(blocks); err != nil {
		return 0
	}
	return slackLength(b.String())
}

func (c *slackChecker) text(at string, o object, key string, limit int, required bool, kinds string) {
	t, ok := o[key].(object)
	at += "/" + key
	if !ok {
		if required || o[key] != nil {
			c.fail(at, "missing required field")
		}
		return
	}
	kind := str(t, "type")
	if !strings.Contains(kinds, kind) || kind == "" {
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
	if t["emoji"] != nil && kind == "mrkdwn" {
		c.fail(at+"/emoji", "not allowed in mrkdwn")
	}
	n := slackLength(str(t, "text"))
	if n == 0 {
		c.fail(at+"/text", "must be more than 0 characters")
	}
	if n > limit {
		c.fail(at+"/text", "must be less than %d characters", limit+1)
	}
}

func (c *slackChecker) block(at string, b object) {
	if id := str(b, "block_id"); id != "" {
		if c.blockIDs[id] {
			c.fail(at+"/block_id", "`block_id` already exists: %s", id)
		}
		c.blockIDs[id] = true
		if len(id) > 255 {
			c.fail(at+"/block_id", "must be less than 256 characters")
		}
	}
	c.actions = map[string]bool{}
	switch kind := str(b, "type"); kind {
	case "header":
		c.text(at, b, "text", 150, true, "plain_text")
	case "section":
		c.text(at, b, "text", 3000, b["fields"] == nil, "plain_text mrkdwn")
	case "divider":
	case "context":
		if n := len(list(b, "elements")); n < 1 || n > 10 {
			c.fail(at+"/elements", "must have 1 to 10 items")
		}
		for n, e := range list(b, "elements") {
			o, _ := e.(object)
			c.text(fmt.Sprintf("%s/elements/%d", at, n), object{"text": o}, "text", 3000, true, "plain_text mrkdwn")
		}
	case "actions":
		if n := len(list(b, "elements")); n < 1 || n > 25 {
			c.fail(at+"/elements", "must have 1 to 25 items")
		}
		for n, e := range list(b, "elements") {
			o, _ := e.(object)
			c.element(fmt.Sprintf("%s/elements/%d", at, n), o, false)
		}
	case "input":
		c.text(at, b, "label", 2000, true, "plain_text")
		c.text(at, b, "hint", 2000, false, "plain_text")
		c.element(at+"/element", sub(b, "element"), true)
	case "rich_text":
		c.richText(at, b)
	default:
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
}

func (c *slackChecker) richText(at string, b object) {
	for n, e := range list(b, "elements") {
		at := fmt.Sprintf("%s/elements/%d", at, n)
		o, _ := e.(object)
		switch str(o, "type") {
		case "rich_text_section", "rich_text_preformatted", "rich_text_quote":
			c.leaves(at, o)
		case "rich_text_list":
			if s := str(o, "style"); s != "bullet" && s != "ordered" {
				c.fail(at+"/style", "must be bullet or ordered")
			}
			if n, _ := number(o, "indent"); n < 0 || n > 8 {
				c.fail(at+"/indent", "must be 0 to 8")
			}
			for k, item := range list(o, "elements") {
				i, _ := item.(object)
				if str(i, "type") != "rich_text_section" {
					c.fail(at, "list items must be sections")
				}
				c.leaves(fmt.Sprintf("%s/elements/%d", at, k), i)
			}
		default:
			c.fail(at+"/type", "unsupported type: %q", str(o, "type"))
		}
	}
}

func (c *slackChecker) leaves(at string, o object) {
	if len(list(o, "elements")) == 0 {
		c.fail(at+"/elements", "must not be empty")
	}
	for n, e := range list(o, "elements") {
		leaf, _ := e.(object)
		at := fmt.Sprintf("%s/elements/%d", at, n)
		switch kind := str(leaf, "type"); kind {
		case "text":
			if str(leaf, "text") == "" {
				c.fail(at+"/text", "must be more than 0 characters")
			}
		case "link":
			if u := str(leaf, "url"); !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
				c.fail(at+"/url", "must be a valid URL")
			}
		case "date":
			if n, ok := number(leaf, "timestamp"); !ok || n <= 0 || str(leaf, "format") == "" {
				c.fail(at, "date needs timestamp and format")
			}
		case "user", "usergroup", "broadcast", "channel", "emoji":
		default:
			c.fail(at+"/type", "unsupported type: %q", kind)
		}
	}
}

func (c *slackChecker) element(at string, e object, input bool) {
	kind, id := str(e, "type"), str(e, "action_id")
	if id == "" || len(id) > 255 {
		c.fail(at+"/action_id", "must be 1 to 255 characters")
	}
	if c.actions[id] {
		c.fail(at+"/action_id", "`action_id` already exists: %s", id)
	}
	c.actions[id] = true
	c.text(at, e, "placeholder", 150, false, "plain_text")
	switch kind {
	case "button":
		if input {
			c.fail(at+"/type", "not allowed in input")
		}
		c.text(at, e, "text", 75, true, "plain_text")
		if len(str(e, "value")) > 2000 {
			c.fail(at+"/value", "must be less than 2001 characters")
		}
		if s, ok := e["style"]; ok && s != "primary" && s != "danger" {
			c.fail(at+"/style", "must be primary or danger")
		}
	case "static_select", "multi_static_select":
		c.choices(at, e, 100, "plain_text")
	case "radio_buttons", "checkboxes":
		c.choices(at, e, 10, "plain_text mrkdwn")
	case "plain_text_input":
		if !input {
			c.fail(at+"/type", "only allowed in input")
		}
		least, _ := number(e, "min_length")
		most, given := number(e, "max_length")
		if least < 0 || least > 3000 || given && (most < 1 || most > 3000 || most < least) {
			c.fail(at, "min_length and max_length must be 0 to 3000")
		}
		if slackLength(str(e, "initial_value")) > 3000*5 {
			c.fail(at+"/initial_value", "too long")
		}
	case "number_input", "email_text_input", "url_text_input", "datepicker", "timepicker":
		c.typed(at, kind, e, input)
	default:
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
}

// typed checks the inputs of one kind of value.
func (c *slackChecker) typed(at, kind string, e object, input bool) {
	if !input && kind != "datepicker" && kind != "timepicker" {
		c.fail(at+"/type", "only allowed in input")
	}
	parse := func(name string, ok func(string) bool) {
		if v, given := e[name]; given && (!ok(str(e, name)) || v == "") {
			c.fail(at+"/"+name, "invalid value %v", v)
		}
	}
	isNumber := func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }
	layout := func(l string) func(string) bool {
		return func(s string) bool { _, err := time.Parse(l, s); return err == nil }
	}
	switch kind {
	case "number_input":
		if _, ok := e["is_decimal_allowed"].(bool); !ok {
			c.fail(at+"/is_decimal_allowed", "missing required field")
		}
		for _, name := range []string{"initial_value", "min_value", "max_value"} {
			parse(name, isNumber)
		}
		least, err1 := strconv.ParseFloat(str(e, "min_value"), 64)
		most, err2 := strconv.ParseFloat(str(e, "max_value"), 64)
		if err1 == nil && err2 == nil && least > most {
			c.fail(at+"/min_value", "must be less than max_value")
		}
	case "datepicker":
		parse("initial_date", layout(time.DateOnly))
	case "timepicker":
		parse("initial_time", layout("15:04"))
	}
}

func (c *slackChecker) choices(at string, e object, most int, kinds string) {
	groups := list(e, "option_groups")
	options := list(e, "options")
	if (len(groups) == 0) == (len(options) == 0) {
		c.fail(at, "exactly one of options and option_groups is needed")
	}
	seen := map[string]bool{}
	var all []any
	check := func(at string, options []any) {
		if len(options) < 1 || len(options) > most {
			c.fail(at+"/options", "must have 1 to %d items", most)
		}
		for n, v := range options {
			o, _ := v.(object)
			at := fmt.Sprintf("%s/options/%d", at, n)
			c.text(at, o, "text", 75, true, kinds)
			c.text(at, o, "description", 75, false, kinds)
			value := str(o, "value")
			if value == "" || len(value) > 150 {
				c.fail(at+"/value", "must be 1 to 150 characters")
			}
			if seen[value] {
				c.fail(at+"/value", "is there twice")
			}
			seen[value] = true
			all = append(all, v)
		}
	}
	if len(groups) > 100 {
		c.fail(at+"/option_groups", "no more than 100 items allowed")
	}
	for n, g := range groups {
		o, _ := g.(object)
		at := fmt.Sprintf("%s/option_groups/%d", at, n)
		c.text(at, o, "label", 75, true, "plain_text")
		check(at, list(o, "options"))
	}
	if len(groups) == 0 {
		check(at, options)
	}
	initial := list(e, "initial_options")
	if o, ok := e["initial_option"]; ok {
		initial = append(initial, o)
	}
	for _, i := range initial {
		if !containsJSON(all, i) {
			c.fail(at+"/initial_option", "must be one of the options")
		}
	}
}

func containsJSON(all []any, v any) bool {
	want, _ := json.Marshal(v)
	for _, o := range all {
		if got, _ := json.Marshal(o); bytes.Equal(got, want) {
			return true
		}
	}
	return false
}

// CheckSlackModal reports what Slack would refuse in a view; empty if nothing.
func CheckSlackModal(raw []byte) []string {
	var v object
	if err := json.Unmarshal(raw, &v); err != nil {
		return []string{err.Error()}
	}
	_, bad := checkedView(object{"view": v})
	if bad == nil {
		return nil
	}
	return append([]string{str(bad, "error")}, checkSlackView(v)...)
}
