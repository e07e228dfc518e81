package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// What cards call the messages and files that carry the rest of their text.
var (
	slackParts   = regexp.MustCompile(`Full text ([0-9a-f]+-[0-9a-f]+)`)
	slackPart    = regexp.MustCompile(`Full text ([0-9a-f]+-[0-9a-f]+), part (\d+) of (\d+)`)
	telegramFile = regexp.MustCompile(`request-[0-9a-f]+-[0-9a-f]+\.txt`)
)

// displayed is everything that a message shows to somebody in its channel: its
// own text, and what it refers to.
func (r *rig) displayed(at sandbox.Place) string {
	m := r.sandbox.Message(at)
	if at.Service == "discord" {
		return normal(at.Service, discordShown(m, r.download))
	}
	own := shownIn(m)
	text := normal(at.Service, own)
	switch at.Service {
	case "slack":
		if name := slackParts.FindStringSubmatch(own); name != nil {
			for _, p := range r.parts(at.Channel, name[1]) {
				text += normal(at.Service, slackPart.ReplaceAllString(p, ""))
			}
		}
	case "telegram":
		if name := telegramFile.FindString(fmt.Sprint(m["text"])); name != "" {
			for _, file := range r.files(at.Channel, name) {
				text += normal(at.Service, file)
			}
		}
	}
	return text
}

// parts are the texts of the messages of a full text in a channel of Slack, in
// order; all that there are, also if one is listed twice.
func (r *rig) parts(channel, name string) []string {
	var out []string
	for _, c := range r.sandbox.State().Slack.Channels {
		if c.ID != channel {
			continue
		}
		for _, m := range c.Messages {
			if text := shownIn(m); strings.Contains(text, name+", part ") && slackPart.MatchString(text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// files are the files of a name in a chat of Telegram.
func (r *rig) files(chat, name string) []string {
	var out []string
	for _, c := range r.sandbox.State().Telegram.Chats {
		if c.ID != chat {
			continue
		}
		for _, m := range c.Messages {
			doc, _ := m["document"].(map[string]any)
			if path, _ := doc["url"].(string); doc["file_name"] == name && path != "" {
				out = append(out, r.download(path))
			}
		}
	}
	return out
}

func (r *rig) download(path string) string {
	resp, err := http.Get(r.base + path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return ""
	}
	raw, _ := io.ReadAll(resp.Body) // what is cut off is missing
	return string(raw)
}
