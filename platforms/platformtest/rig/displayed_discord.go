package rig

import (
	"regexp"
	"strings"
)

// Discord constants that determine the visible content of a message.
const (
	discordComponents = 1 << 15 // flag of a message made of components
	discordText       = 10      // component types
	discordFile       = 13
)

// discordMarkup matches code and escapes, which are shown verbatim, spoilers,
// and links with a different text.
var discordMarkup = regexp.MustCompile("(?s)```.*?```|`[^`]*`" + `|\\.|\|\|.+?\|\||\]\(<?\w+://[^)]*\)`)

// discordShown returns the text that a member sees in a message or a modal, in
// the format that Discord stores or that a request sends. It ignores spoilers,
// and embeds, which a permission or a setting can hide. Menus count as open. It
// reads files with download unless download is nil.
func discordShown(v any, download func(string) string) string {
	d := &discordReader{download: download}
	m, _ := v.(map[string]any)
	if data, ok := m["data"].(map[string]any); ok { // response to an interaction
		m = data
	}
	if flags, _ := m["flags"].(float64); int(flags)&discordComponents == 0 {
		d.write(m, "content", "title")
		attached, _ := m["attachments"].([]any)
		for _, a := range attached {
			file, _ := a.(map[string]any)
			if name, _ := file["filename"].(string); !strings.HasPrefix(name, "SPOILER_") {
				d.write(file, "filename")
				d.open(file)
			}
		}
	}
	d.read(map[string]any{"components": m["components"]})
	return d.text.String()
}

// discordReader collects the text that a member sees.
type discordReader struct {
	text     strings.Builder
	download func(string) string // may be nil
}

// write adds the visible part of texts.
func (d *discordReader) write(o map[string]any, keys ...string) {
	for _, k := range keys {
		if s, _ := o[k].(string); s != "" {
			d.text.WriteString(discordMarkup.ReplaceAllStringFunc(s, func(s string) string {
				switch {
				case strings.HasPrefix(s, "||"):
					return ""
				case strings.HasPrefix(s, "]("):
					return "]"
				}
				return s
			}) + "\n")
		}
	}
}

// open adds the content of a file.
func (d *discordReader) open(o map[string]any) {
	if url, _ := o["url"].(string); strings.HasPrefix(url, "/") && d.download != nil {
		d.text.WriteString(d.download(url) + "\n")
	}
}

// read adds a component and its content.
func (d *discordReader) read(v any) {
	o, _ := v.(map[string]any)
	if o == nil || o["spoiler"] == true {
		return
	}
	switch o["type"] {
	case float64(discordText):
		d.write(o, "content")
	case float64(discordFile):
		file, _ := o["file"].(map[string]any)
		d.write(o, "name")
		d.open(file)
	default:
		d.write(o, "label", "description", "placeholder")
	}
	d.read(o["accessory"])
	d.read(o["component"])
	for _, key := range []string{"components", "options"} {
		list, _ := o[key].([]any)
		for _, e := range list {
			d.read(e)
		}
	}
}
