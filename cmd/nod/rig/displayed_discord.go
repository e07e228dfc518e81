package rig

import (
	"regexp"
	"strings"
)

// Numbers of Discord that decide what a message shows.
const (
	discordComponents = 1 << 15 // the flag of a message that only components show
	discordText       = 10      // component types
	discordFile       = 13
)

// discordMarkup are code and escapes, which are shown as they are written,
// spoilers, and addresses behind other words.
var discordMarkup = regexp.MustCompile("(?s)```.*?```|`[^`]*`" + `|\\.|\|\|.+?\|\||\]\(<?\w+://[^)]*\)`)

// discordShown returns what a member reads on a message or a modal, as Discord
// stores it or a request sends it. What a spoiler hides does not count,
// and neither do embeds: a permission or a setting can hide them. Menus count
// as open. Files are read with download, if it is not nil.
func discordShown(v any, download func(string) string) string {
	var b strings.Builder
	write := func(o map[string]any, keys ...string) {
		for _, k := range keys {
			if s, _ := o[k].(string); s != "" {
				b.WriteString(discordMarkup.ReplaceAllStringFunc(s, func(s string) string {
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
	open := func(o map[string]any) {
		if url, _ := o["url"].(string); strings.HasPrefix(url, "/") && download != nil {
			b.WriteString(download(url) + "\n")
		}
	}
	var read func(v any)
	read = func(v any) {
		o, _ := v.(map[string]any)
		if o == nil || o["spoiler"] == true {
			return
		}
		switch o["type"] {
		case float64(discordText):
			write(o, "content")
		case float64(discordFile):
			file, _ := o["file"].(map[string]any)
			write(o, "name")
			open(file)
		default:
			write(o, "label", "description", "placeholder")
		}
		read(o["accessory"])
		read(o["component"])
		for _, key := range []string{"components", "options"} {
			list, _ := o[key].([]any)
			for _, e := range list {
				read(e)
			}
		}
	}
	m, _ := v.(map[string]any)
	if data, ok := m["data"].(map[string]any); ok { // the answer to an interaction
		m = data
	}
	if flags, _ := m["flags"].(float64); int(flags)&discordComponents == 0 {
		write(m, "content", "title")
		attached, _ := m["attachments"].([]any)
		for _, a := range attached {
			file, _ := a.(map[string]any)
			if name, _ := file["filename"].(string); !strings.HasPrefix(name, "SPOILER_") {
				write(file, "filename")
				open(file)
			}
		}
	}
	read(map[string]any{"components": m["components"]})
	return b.String()
}
