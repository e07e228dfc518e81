package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// A surface is a place that shows blocks.
type surface uint8

const (
	onMessage surface = 1 << iota
	onModal
	onHome
	everywhere = onMessage | onModal | onHome
)

// A kind is a type of block or of element.
type kind struct {
	on    surface
	shape shape
	// more checks conditions that the shape cannot express. It may be nil.
	more func(c *checker, at string, o raw.Object)
}

// blockKinds maps the types of blocks that Slack accepts from apps to their
// shapes.
var blockKinds map[string]kind

func init() { // the blocks of a plan contain blocks
	blockKinds = map[string]kind{
		"actions": {on: everywhere, shape: shape{"elements": required(listOf(1, maxActions, elementIn(inActions)))}},
		"alert": {on: onModal, shape: shape{
			"text": required(prose(maxAlert)), "level": optional(oneOf("default", "info", "warning", "error", "success")),
		}},
		"context": {on: everywhere, shape: shape{"elements": required(listOf(1, maxContext, contextItem))}},
		"context_actions": {
			on: onMessage, shape: shape{"elements": required(listOf(1, maxContextActions, elementIn(inContextActions)))},
		},
		"divider": {on: everywhere},
		"header":  {on: everywhere, shape: shape{"text": required(plain(maxHeader)), "level": optional(integer(1, 4))}},
		"image":   {on: everywhere, shape: picture.with(shape{"title": optional(plain(maxLabel))}), more: pictured},
		"input": {on: everywhere, shape: shape{
			"label": required(plain(maxLabel)), "hint": optional(plain(maxHint)), "element": required(elementIn(inInput)),
			"optional": optional(flag), "dispatch_action": optional(flag),
		}},
		"markdown":  {on: onMessage, shape: shape{"text": required(text(1, maxMarkdown))}, more: (*checker).allMarkdown},
		"plan":      {on: onMessage, shape: shape{"title": required(text(1, math.MaxInt32)), "tasks": optional(tasks)}},
		"rich_text": {on: everywhere, shape: shape{"elements": required(listOf(0, math.MaxInt32, richElement))}},
		"section": {on: everywhere, shape: shape{
			"text": optional(prose(maxSection)), "fields": optional(listOf(1, maxFields, prose(maxField))),
			"accessory": optional(elementIn(inSection)), "expand": optional(flag),
		}, more: filled},
		"table": {on: onMessage, shape: shape{
			"rows":            required(listOf(1, maxRows, listOf(1, maxColumns, cell))),
			"column_settings": optional(listOf(0, maxColumns, column)),
		}, more: (*checker).allTables},
		"task_card": {on: onMessage, shape: shape{
			"task_id": required(text(1, math.MaxInt32)), "title": required(text(1, math.MaxInt32)), "hide_title": optional(flag),
			"status":  optional(oneOf("pending", "in_progress", "complete", "error")),
			"details": optional(richBlock), "output": optional(richBlock), "sources": optional(listOf(0, math.MaxInt32, source)),
		}},
	}
	for name, k := range blockKinds {
		k.shape = k.shape.with(shape{"block_id": optional((*checker).blockID)})
		blockKinds[name] = k
	}
}

// checkBlocks checks blocks against the published limits of Block Kit.
func checkBlocks(at string, blocks []any, on surface) []string {
	c := checker{on: on, blockIDs: map[string]bool{}}
	most := maxViewBlocks
	if on == onMessage {
		most = maxMessageBlocks
	}
	if len(blocks) > most {
		c.fail(at, "no more than %d items allowed", most)
	}
	for n, b := range blocks {
		block(&c, fmt.Sprintf("%s/%d", at, n), b)
	}
	slices.Sort(c.problems)
	return c.problems
}

// size returns the size of the JSON of blocks.
func size(blocks []any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(blocks); err != nil {
		return 0
	}
	return length(b.String())
}

// block is the rule for a block.
func block(c *checker, at string, v any) {
	b, ok := v.(raw.Object)
	if !ok {
		c.fail(at, "must be a list of objects")
		return
	}
	k, known := blockKinds[raw.Str(b, "type")]
	if !known || k.on&c.on == 0 {
		c.fail(at+"/type", "unsupported type: %q", raw.Str(b, "type"))
		return
	}
	c.actions = map[string]bool{}
	c.object(at, b, k.shape)
	if k.more != nil {
		k.more(c, at, b)
	}
}

func (c *checker) blockID(at string, v any) {
	text(0, maxBlockID)(c, at, v)
	id, _ := v.(string)
	if id == "" {
		return
	}
	if c.blockIDs[id] {
		c.fail(at, "`block_id` already exists: %s", id)
	}
	c.blockIDs[id] = true
}

// contextItem is the rule for an element of a context block.
func contextItem(c *checker, at string, v any) {
	if o, ok := v.(raw.Object); ok && raw.Str(o, "type") == "image" {
		elementIn(inContext)(c, at, v)
		return
	}
	prose(maxSection)(c, at, v)
}

func filled(c *checker, at string, b raw.Object) {
	if b["text"] == nil && b["fields"] == nil {
		c.fail(at+"/text", "missing required field: text")
	}
}

// picture is the shape of an image, as a block and as an element.
var picture = shape{
	"alt_text": required(text(1, maxLabel)), "image_url": optional(address),
	"slack_file": optional(objectOf(shape{"id": optional(text(1, maxURL)), "url": optional(address)})),
}

func pictured(c *checker, at string, o raw.Object) { c.hasOneOf(at, o, "image_url", "slack_file") }

func (c *checker) allMarkdown(at string, b raw.Object) {
	if c.markdown += units(raw.Str(b, "text")); c.markdown > maxMarkdown {
		c.fail(at+"/text", "all markdown blocks together must be at most %d characters", maxMarkdown)
	}
}

func (c *checker) allTables(at string, b raw.Object) {
	if c.tables++; c.tables > 1 {
		c.fail(at, "only_one_table_allowed")
	}
	n := 0
	for _, row := range raw.List(b, "rows") {
		cells, _ := row.([]any)
		for _, o := range raw.All(cells) {
			n += units(raw.Texts(o))
		}
	}
	if n > maxTable {
		c.fail(at+"/rows", "all cells together must be at most %d characters", maxTable)
	}
}

// cell is the rule for a cell of a table.
func cell(c *checker, at string, v any) {
	o, _ := v.(raw.Object)
	switch kind := raw.Str(o, "type"); kind {
	case "raw_text":
		c.object(at, o, shape{"text": required(text(0, maxTable))})
	case "raw_number":
		c.object(at, o, shape{"value": required(number), "text": optional(text(0, maxTable))})
	case "rich_text":
		richBlock(c, at, v)
	default:
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
}

var columnSettings = objectOf(shape{"align": optional(oneOf("left", "center", "right")), "is_wrapped": optional(flag)})

// column is the rule for the settings of a column. An empty column keeps the
// defaults.
func column(c *checker, at string, v any) {
	if v != nil {
		columnSettings(c, at, v)
	}
}

// tasks is the rule for the tasks of a plan.
func tasks(c *checker, at string, v any) {
	seen := map[string]bool{}
	listOf(0, maxTasks, func(c *checker, at string, v any) {
		o, _ := v.(raw.Object)
		if id := raw.Str(o, "task_id"); seen[id] {
			c.fail(at+"/task_id", "duplicate task_id")
		} else {
			seen[id] = true
		}
		if raw.Str(o, "type") != "task_card" {
			c.fail(at+"/type", "must be task_card")
			return
		}
		block(c, at, v)
	})(c, at, v)
}

// source is the rule for a source of a task.
func source(c *checker, at string, v any) {
	o, _ := v.(raw.Object)
	if raw.Str(o, "type") != "url" {
		c.fail(at+"/type", "must be url")
		return
	}
	c.object(at, o, shape{"url": required(address), "text": required(text(1, maxLabel))})
}
