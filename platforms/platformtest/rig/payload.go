package rig

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// placeholder matches a character that cards show as a code point.
var placeholder = regexp.MustCompile(`⟨U\+([0-9A-F]{4,6})⟩`)

// Payload returns the text of the decision in a message, character for
// character. It comes from the code block of the message. If the text is too
// long for the message, it comes from the dialog or the file with the full
// text. In a file, code is indented. Payload restores invisible characters,
// which a card shows as code points. It returns an error if a part of the text
// is missing, out of order or not above the card.
func (r *Rig) Payload(at sandbox.Place) (text string, full bool, err error) {
	return r.PayloadOf(at, r.Sandbox.Message(at))
}

// PayloadOf is Payload for a message that was read before.
func (r *Rig) PayloadOf(at sandbox.Place, m map[string]any) (text string, full bool, err error) {
	switch at.Service {
	case "slack":
		text = r.slackPayload(at, m)
	case "discord":
		text, full = r.discordPayload(m)
	case "telegram":
		text, full, err = r.telegramPayload(at, m)
	}
	return placeholder.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(placeholder.FindStringSubmatch(s)[1], 16, 32) // the pattern matches only hex digits
		return string(rune(n))
	}), full, err
}

// above returns the messages of the card's channel that precede the card.
func (r *Rig) above(at sandbox.Place) []map[string]any {
	all := r.Messages(at.Service, at.Channel)
	n := slices.IndexFunc(all, func(m map[string]any) bool { return MessageID(at.Service, m) == at.Message })
	return all[:max(n, 0)]
}

// MessageID returns the ID of a message in a service's format.
func MessageID(service string, m map[string]any) string {
	return number(m[map[string]string{"slack": "ts", "discord": "id", "telegram": "message_id"}[service]])
}

// number returns the ID of a message in decoded JSON.
func number(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// slackPayload opens the dialog with the complete text if the card has one, and
// returns the text.
func (r *Rig) slackPayload(at sandbox.Place, m map[string]any) string {
	if !r.Offers(at, person.Reads) {
		return strings.Join(preformatted(m), "\n")
	}
	return strings.Join(preformatted(r.View(r.Press("ana", at, person.Reads).Modal)["blocks"]), "")
}

// preformatted returns the texts of the code blocks of a Slack message.
func preformatted(v any) []string {
	var out []string
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			out = append(out, preformatted(e)...)
		}
	case map[string]any:
		if x["type"] == "rich_text_preformatted" {
			var text strings.Builder
			elements, _ := x["elements"].([]any)
			for _, e := range elements {
				o, _ := e.(map[string]any)
				s, _ := o["text"].(string)
				text.WriteString(s)
			}
			return []string{text.String()}
		}
		for _, k := range sortedKeys(x) {
			out = append(out, preformatted(x[k])...)
		}
	}
	return out
}

// discordFence matches a code block.
var discordFence = regexp.MustCompile("(?s)```[a-z]*\n(.*?)\n```")

func (r *Rig) discordPayload(m map[string]any) (string, bool) {
	var files []string
	d := &discordReader{download: func(path string) string {
		files = append(files, r.Download(path))
		return ""
	}}
	d.read(map[string]any{"components": m["components"]})
	if len(files) > 0 {
		return strings.Join(files, ""), true
	}
	var blocks []string
	for _, hit := range discordFence.FindAllStringSubmatch(d.text.String(), -1) {
		// the zero-width space breaks a fence in the text
		blocks = append(blocks, strings.ReplaceAll(hit[1], "\u200b", ""))
	}
	return strings.Join(blocks, "\n"), false
}

func (r *Rig) telegramPayload(at sandbox.Place, m map[string]any) (string, bool, error) {
	text, _ := m["text"].(string)
	if name := person.TelegramFile.FindString(text); name != "" {
		var files []string
		for _, p := range r.above(at) {
			doc, _ := p["document"].(map[string]any)
			if path, _ := doc["url"].(string); doc["file_name"] == name {
				files = append(files, r.Download(path))
			}
		}
		if files = slices.Compact(files); len(files) != 1 {
			return "", true, fmt.Errorf("%d different files %s are above the card", len(files), name)
		}
		return files[0], true, nil
	}
	units := utf16.Encode([]rune(text))
	var blocks []string
	entities, _ := m["entities"].([]any)
	for _, e := range entities {
		o, _ := e.(map[string]any)
		if o["type"] == "pre" {
			from, _ := strconv.Atoi(number(o["offset"]))
			length, _ := strconv.Atoi(number(o["length"]))
			blocks = append(blocks, string(utf16.Decode(units[from:from+length])))
		}
	}
	return strings.Join(blocks, "\n"), false, nil
}
