package rig

import (
	"fmt"
	"io"
	"net/http"
	"regexp"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// TelegramFile matches the name that a card uses for the file with its text.
var TelegramFile = regexp.MustCompile(`request-[0-9a-f]+-[0-9a-f]+\.txt`)

// Displayed returns everything that a message shows to members of its channel:
// its own text, and the text of the files that it refers to.
func (r *Rig) Displayed(at sandbox.Place) string {
	m := r.Sandbox.Message(at)
	if at.Service == "discord" {
		return Normal(at.Service, discordShown(m, r.download))
	}
	text := Normal(at.Service, ShownIn(m))
	if at.Service == "telegram" {
		if name := TelegramFile.FindString(fmt.Sprint(m["text"])); name != "" {
			for _, file := range r.Files(at.Channel, name) {
				text += Normal(at.Service, file)
			}
		}
	}
	return text
}

// Files returns the files with a name in a Telegram chat.
func (r *Rig) Files(chat, name string) []string {
	var out []string
	for _, c := range r.Sandbox.Chats("telegram") {
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

func (r *Rig) download(path string) string {
	resp, err := http.Get(r.Base + path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return ""
	}
	raw, _ := io.ReadAll(resp.Body) // the truncated part is missing
	return string(raw)
}
