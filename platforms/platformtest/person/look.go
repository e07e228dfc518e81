package person

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// Reads is the start of the label of a control that opens a dialog with the
// complete text, where people approve or answer.
const Reads = "Read and "

// Controls returns the controls of a message.
func (h *Hands) Controls(at sandbox.Place) []sandbox.Control {
	return sandbox.Controls(at.Service, h.Sandbox.Message(at))
}

// Text returns the text of a message.
func (h *Hands) Text(at sandbox.Place) string { return sandbox.Texts(h.Sandbox.Message(at)) }

// Offers reports whether a message has a control with a label.
func (h *Hands) Offers(at sandbox.Place, label string) bool {
	return slices.ContainsFunc(h.Controls(at), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) })
}

// Has waits until a message has a control with a label.
func (h *Hands) Has(at sandbox.Place, label string) {
	h.T.Helper()
	h.Eventually(fmt.Sprintf("the message on %s offers %q", at.Service, label), func() bool { return h.Offers(at, label) })
}

// Says waits until a message contains a text.
func (h *Hands) Says(at sandbox.Place, words string) {
	h.T.Helper()
	h.Eventually(fmt.Sprintf("the message on %s says %q", at.Service, words), func() bool { return strings.Contains(h.Text(at), words) })
}

// Modal returns the text of a modal of Slack.
func (h *Hands) Modal(id string) string { return sandbox.Texts(h.View(id)) }

// View returns a modal of Slack, or nil.
func (h *Hands) View(id string) map[string]any {
	for _, v := range h.Sandbox.Modals() {
		if v.ID == id {
			return v.View
		}
	}
	return nil
}

// Messages returns the messages of a channel, oldest first.
func (h *Hands) Messages(service, channel string) []map[string]any {
	for _, c := range h.Sandbox.Chats(service) {
		if c.ID == channel {
			return c.Messages
		}
	}
	return nil
}

// Told fails the test unless a person reads about the result of an action in
// private: in a toast, in an error of a form, or in a private message that they
// have not read before. Services without private messages answer a typed text
// in the chat.
func (h *Hands) Told(who, service string, reaction sandbox.Reaction, word string) {
	h.T.Helper()
	if said := fmt.Sprint(reaction.Toast, reaction.Errors); len(reaction.Errors) > 0 || reaction.Toast != "" {
		if !strings.Contains(said, word) && !h.Watch.reads(h.Sandbox, who, service, word) {
			h.T.Fatalf("%s read %q on %s, want %q", who, said, service, word)
		}
		return
	}
	h.Eventually(fmt.Sprintf("%s reads %q on %s", who, word, service), func() bool {
		return h.Watch.reads(h.Sandbox, who, service, word) || service == "telegram" && h.Replied(service, word)
	})
}

// Replied reports whether one of the newest messages of a chat contains words.
func (h *Hands) Replied(service, words string) bool {
	const newest = 5
	return slices.ContainsFunc(h.Sandbox.Chats(service), func(c sandbox.ChatState) bool {
		return slices.ContainsFunc(c.Messages[max(0, len(c.Messages)-newest):], func(m map[string]any) bool {
			return strings.Contains(sandbox.Texts(m), words)
		})
	})
}

// TelegramFile matches the name of the file with the text of a card.
var TelegramFile = regexp.MustCompile(`request-[0-9a-f]+-[0-9a-f]+\.txt`)

// Shown returns all text of a request that people can read, including the
// dialog or the file with the text that is too long for the card.
func (h *Hands) Shown(at sandbox.Place) string {
	h.T.Helper()
	switch {
	case at.Service == "discord":
		return h.Sandbox.Person("ana").Sees(at)
	case at.Service == "slack" && h.Offers(at, Reads):
		return h.Modal(h.Press("ana", at, Reads).Modal)
	}
	text := h.Text(at)
	if name := TelegramFile.FindString(text); name != "" {
		text += strings.Join(h.Files(at.Channel, name), "\n")
	}
	return text
}

// Files returns the files with a name in a Telegram chat.
func (h *Hands) Files(chat, name string) []string {
	var out []string
	for _, m := range h.Messages("telegram", chat) {
		doc, _ := m["document"].(map[string]any)
		if path, _ := doc["url"].(string); doc["file_name"] == name && path != "" {
			out = append(out, h.Download(path))
		}
	}
	return out
}

// Download returns a file of the sandbox, or "".
func (h *Hands) Download(path string) string {
	resp, err := http.Get(h.Base + path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return ""
	}
	raw, _ := io.ReadAll(resp.Body) // otherwise, the end of the text is missing
	return string(raw)
}
