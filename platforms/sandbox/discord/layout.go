package discord

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// legacyField returns the error for a field that is not allowed with
// components.
func legacyField(name string) *failure {
	return invalid(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
		fmt.Sprintf("The '%s' field cannot be used when using MessageFlags.IS_COMPONENTS_V2", name))
}

// checkLayout checks a message with the flag IS_COMPONENTS_V2.
func checkLayout(m raw.Object) *failure {
	for _, name := range []string{"content", "embeds", "sticker_ids", "poll"} {
		if !empty(m[name]) {
			return legacyField(name)
		}
	}
	top := raw.List(m, "components")
	if len(top) == 0 {
		return emptyMessage
	}
	c := checker{ids: map[string]bool{}}
	all := components(top)
	if len(all) > maxComponents {
		c.fail("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
			"The total number of components cannot exceed %d", maxComponents)
	}
	c.numbers(all)
	c.layout("components", raw.All(top), false)
	if c.bad != nil {
		return c.bad
	}
	return checkText(all)
}

// empty reports whether a field has no content.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}

// numbers checks the IDs that the bot set.
func (c *checker) numbers(all []raw.Object) {
	seen := map[int]bool{}
	for _, o := range all {
		id := raw.Int(o["id"])
		if id == 0 {
			continue
		}
		if id < 0 || id > maxComponentID || seen[id] {
			c.fail("components", "COMPONENT_ID_DUPLICATED", "Component id %d is used twice or out of range", id)
		}
		seen[id] = true
	}
}

func checkText(all []raw.Object) *failure {
	characters, bytes := 0, 0
	for _, o := range all {
		if kindOf(o) == textDisplay {
			characters += raw.Runes(raw.Str(o, "content"))
			bytes += len(raw.Str(o, "content")) + 12
		}
	}
	switch {
	case characters > maxComponentsText:
		return invalid("components", "COMPONENT_MAX_TOTAL_TEXT_LENGTH_EXCEEDED",
			fmt.Sprintf("The total length of the text displays cannot exceed %d", maxComponentsText))
	case bytes > maxComponentsTextRaw:
		return internalError
	}
	return nil
}

// layout checks the components of a message or of a container.
func (c *checker) layout(at string, items []raw.Object, nested bool) {
	for n, o := range items {
		at := at + "." + strconv.Itoa(n)
		switch kind := kindOf(o); {
		case kind == actionRow:
			c.row(at, o)
		case kind == section:
			c.section(at, o)
		case kind == textDisplay:
			c.textDisplay(at, o)
		case kind == gallery:
			c.gallery(at, o)
		case kind == fileShown:
			c.file(at, raw.Sub(o, "file"))
		case kind == separator:
			if s, given := raw.Number(o, "spacing"); given && s != 1 && s != 2 {
				c.fail(at+".spacing", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
			}
		case kind == container && !nested:
			c.container(at, o)
		case nested:
			c.kind(at, "1, 9, 10, 12, 13, 14")
		default:
			c.kind(at, "1, 9, 10, 12, 13, 14, 17")
		}
	}
}

func (c *checker) container(at string, o raw.Object) {
	c.color(at+".accent_color", o, "accent_color")
	if len(raw.List(o, "components")) == 0 {
		c.fail(at+".components", "BASE_TYPE_REQUIRED", "This field is required")
	}
	c.layout(at+".components", raw.Objects(o, "components"), true)
}

func (c *checker) file(at string, f raw.Object) {
	if !strings.HasPrefix(raw.Str(f, "url"), "attachment://") && raw.Str(f, "attachment_id") == "" {
		c.fail(at+".file.url", "UNFURLED_MEDIA_ITEM_URL_INVALID",
			"A file must be an attachment of the message: attachment://FILENAME")
	}
}

func (c *checker) textDisplay(at string, o raw.Object) {
	c.length(at+".content", strings.TrimSpace(raw.Str(o, "content")), 1, maxTextDisplay)
}

func (c *checker) section(at string, o raw.Object) {
	texts := raw.Objects(o, "components")
	c.count(at+".components", len(texts), 1, maxSectionTexts)
	for n, child := range texts {
		at := at + ".components." + strconv.Itoa(n)
		if kindOf(child) != textDisplay {
			c.kind(at, "10,")
		}
		c.textDisplay(at, child)
	}
	accessory := raw.Sub(o, "accessory")
	switch at += ".accessory"; kindOf(accessory) {
	case button:
		c.button(at, accessory)
	case thumbnail:
		c.media(at+".media", raw.Sub(accessory, "media"))
	default:
		c.fail(at, "BASE_TYPE_REQUIRED", "This field is required")
	}
}

func (c *checker) gallery(at string, o raw.Object) {
	items := raw.Objects(o, "items")
	c.count(at+".items", len(items), 1, maxGallery)
	for n, item := range items {
		c.media(fmt.Sprintf("%s.items.%d.media", at, n), raw.Sub(item, "media"))
		c.length(fmt.Sprintf("%s.items.%d.description", at, n), item["description"], 0, maxMediaDescription)
	}
}

func (c *checker) media(at string, o raw.Object) {
	url := raw.Str(o, "url")
	known := strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") ||
		strings.HasPrefix(url, "attachment://")
	if !known && raw.Str(o, "attachment_id") == "" {
		c.fail(at+".url", "URL_TYPE_INVALID_URL", "Not a well formed URL.")
	}
}
