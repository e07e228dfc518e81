package sandbox

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of messages that are made of components.
const (
	discordMostComponents = 40
	discordMostText       = 4000
	discordMostTextBytes  = 10170 // beyond them the service fails: discord/discord-api-docs#8554
)

// discordLegacyField refuses a field that a message made of components cannot
// have.
func discordLegacyField(name string) *discordFailure {
	return discordInvalid(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
		fmt.Sprintf("The '%s' field cannot be used when using MessageFlags.IS_COMPONENTS_V2", name))
}

// checkDiscordLayout checks a message that is made of components.
func checkDiscordLayout(m object) *discordFailure {
	for _, name := range []string{"content", "embeds", "sticker_ids", "poll"} {
		switch v := m[name].(type) {
		case nil:
		case string:
			if v != "" {
				return discordLegacyField(name)
			}
		case []any:
			if len(v) > 0 {
				return discordLegacyField(name)
			}
		default:
			return discordLegacyField(name)
		}
	}
	top := list(m, "components")
	if len(top) == 0 {
		return &discordFailure{400, 50006, "Cannot send an empty message", nil}
	}
	c := discordChecker{ids: map[string]bool{}}
	all := discordComponents(top)
	if len(all) > discordMostComponents {
		c.fail("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components cannot exceed %d", discordMostComponents)
	}
	c.numbers(all)
	c.layout("components", top, false)
	if c.bad != nil {
		return c.bad
	}
	return checkDiscordText(all)
}

// numbers checks the ids that the bot gave.
func (c *discordChecker) numbers(all []object) {
	seen := map[int]bool{}
	for _, o := range all {
		id := intOf(o["id"])
		if id == 0 {
			continue
		}
		if id < 0 || id > 1<<31-1 || seen[id] {
			c.fail("components", "COMPONENT_ID_DUPLICATED", "Component id %d is used twice or out of range", id)
		}
		seen[id] = true
	}
}

func checkDiscordText(all []object) *discordFailure {
	characters, bytes := 0, 0
	for _, o := range all {
		if kindOf(o) == 10 {
			characters += runes(str(o, "content"))
			bytes += len(str(o, "content")) + 12
		}
	}
	switch {
	case characters > discordMostText:
		return discordInvalid("components", "COMPONENT_MAX_TOTAL_TEXT_LENGTH_EXCEEDED", fmt.Sprintf("The total length of the text displays cannot exceed %d", discordMostText))
	case bytes > discordMostTextBytes:
		return &discordFailure{500, 0, "500: Internal Server Error", nil}
	}
	return nil
}

// layout checks components where layout components may stand.
func (c *discordChecker) layout(at string, components []any, nested bool) {
	for n, v := range components {
		o, _ := v.(object)
		at := at + "." + strconv.Itoa(n)
		switch kind := kindOf(o); {
		case kind == 1:
			c.row(at, o)
		case kind == 9:
			c.section(at, o)
		case kind == 10:
			c.textDisplay(at, o)
		case kind == 12:
			c.gallery(at, o)
		case kind == 13:
			if url := str(sub(o, "file"), "url"); !strings.HasPrefix(url, "attachment://") && str(sub(o, "file"), "attachment_id") == "" {
				c.fail(at+".file.url", "UNFURLED_MEDIA_ITEM_URL_INVALID", "A file must be an attachment of the message: attachment://FILENAME")
			}
		case kind == 14:
			if s, given := number(o, "spacing"); given && s != 1 && s != 2 {
				c.fail(at+".spacing", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
			}
		case kind == 17 && !nested:
			if color, given := number(o, "accent_color"); given && (color < 0 || color > 0xffffff) {
				c.fail(at+".accent_color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
			}
			if len(list(o, "components")) == 0 {
				c.fail(at+".components", "BASE_TYPE_REQUIRED", "This field is required")
			}
			c.layout(at+".components", list(o, "components"), true)
		case nested:
			c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 9, 10, 12, 13, 14).")
		default:
			c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 9, 10, 12, 13, 14, 17).")
		}
	}
}

func (c *discordChecker) textDisplay(at string, o object) {
	s, _ := o["content"].(string)
	c.length(at+".content", strings.TrimSpace(s), 1, discordMostText)
}

func (c *discordChecker) section(at string, o object) {
	texts := list(o, "components")
	if len(texts) < 1 || len(texts) > 3 {
		c.fail(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 3 in length.")
	}
	for n, v := range texts {
		child, _ := v.(object)
		at := at + ".components." + strconv.Itoa(n)
		if kindOf(child) != 10 {
			c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (10,).")
		}
		c.textDisplay(at, child)
	}
	accessory := sub(o, "accessory")
	switch at += ".accessory"; kindOf(accessory) {
	case 2:
		c.button(at, accessory)
	case 11:
		c.media(at+".media", sub(accessory, "media"))
	default:
		c.fail(at, "BASE_TYPE_REQUIRED", "This field is required")
	}
}

func (c *discordChecker) gallery(at string, o object) {
	items := list(o, "items")
	if len(items) < 1 || len(items) > 10 {
		c.fail(at+".items", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 10 in length.")
	}
	for n, v := range items {
		item, _ := v.(object)
		c.media(fmt.Sprintf("%s.items.%d.media", at, n), sub(item, "media"))
		c.length(fmt.Sprintf("%s.items.%d.description", at, n), item["description"], 0, 1024)
	}
}

func (c *discordChecker) media(at string, o object) {
	url := str(o, "url")
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "attachment://") && str(o, "attachment_id") == "" {
		c.fail(at+".url", "URL_TYPE_INVALID_URL", "Not a well formed URL.")
	}
}

// CheckDiscordMessage reports what Discord would refuse in the body of a
// message. It is empty if Discord takes it.
func CheckDiscordMessage(m map[string]any) string {
	if bad := checkDiscordMessage(m, len(list(m, "attachments")) > 0); bad != nil {
		return fmt.Sprint(bad.message, " ", bad.errors)
	}
	return ""
}
