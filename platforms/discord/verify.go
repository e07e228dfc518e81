package discord

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/discordmsg"
)

// node holds the fields of a component that affect what people see and what a
// click sends.
type node struct {
	Type        int      `json:"type"`
	Content     string   `json:"content"`
	Label       string   `json:"label"`
	CustomID    string   `json:"custom_id"`
	Placeholder string   `json:"placeholder"`
	Options     []option `json:"options"`
	Components  []node   `json:"components"`
	Spoiler     bool     `json:"spoiler"`
	Disabled    bool     `json:"disabled"`
	// Name, Size and File belong to a file component.
	Name string `json:"name"`
	Size int    `json:"size"`
	File struct {
		Attachment string `json:"attachment_id"`
	} `json:"file"`
}

type option struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description"`
}

const typeFile = 13

// answer is the message that Discord returns. Discord lists a file in
// attachments only if no component shows it.
type answer struct {
	Flags       discordgo.MessageFlags `json:"flags"`
	Components  []node                 `json:"components"`
	Attachments []struct {
		ID       string `json:"id"`
		Filename string `json:"filename"`
		Size     int    `json:"size"`
	} `json:"attachments"`
}

// delivered compares the message that Discord returned with the message that
// was sent, and returns the ID of its file. It returns CodeUnsupported if the
// messages differ.
func delivered(m discordmsg.Message, raw []byte) (string, error) {
	var got answer
	if err := json.Unmarshal(raw, &got); err != nil {
		return "", undelivered("the response cannot be read")
	}
	sentRaw, err := json.Marshal(m.Components)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "discord: components")
	}
	var sent []node
	if err := json.Unmarshal(sentRaw, &sent); err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "discord: components")
	}
	if got.Flags&discordgo.MessageFlagsIsComponentsV2 == 0 {
		return "", undelivered("the message is not made of components")
	}
	if what := differs(sent, got.Components); what != "" {
		return "", undelivered(what)
	}
	if m.File == nil {
		return "", nil
	}
	return got.file(m)
}

// file finds the file of a message in the answer.
func (a answer) file(m discordmsg.Message) (string, error) {
	shown := find(a.Components, typeFile)
	if shown == nil {
		return "", undelivered("the file is missing")
	}
	name, size, id := shown.Name, shown.Size, shown.File.Attachment
	for _, at := range a.Attachments {
		if id == "" && at.Filename == m.File.Name || id != "" && at.ID == id {
			name, size, id = at.Filename, at.Size, at.ID
		}
	}
	switch {
	case name != m.File.Name:
		return "", undelivered("the file is missing")
	case size != len(m.File.Data) && !m.Closed: // a closed card keeps the file that people saw when they decided
		return "", undelivered("the file is not complete")
	}
	return id, nil
}

func find(all []node, kind int) *node {
	for n := range all {
		if all[n].Type == kind {
			return &all[n]
		}
		if found := find(all[n].Components, kind); found != nil {
			return found
		}
	}
	return nil
}

// differs describes the first difference between the components that nod sent
// and the components that people see. It returns "" if there is none.
func differs(sent, got []node) string {
	if len(sent) != len(got) {
		return "components are missing or were added"
	}
	for n, s := range sent {
		g := got[n]
		switch {
		case s.Type != g.Type || s.CustomID != g.CustomID || s.Disabled != g.Disabled || s.Spoiler != g.Spoiler:
			return "a component was changed"
		case visible(s.Content) != visible(g.Content):
			return "the text was changed"
		case visible(s.Label) != visible(g.Label) || visible(s.Placeholder) != visible(g.Placeholder):
			return "a label was changed"
		case !slices.EqualFunc(s.Options, g.Options, sameOption):
			return "the options were changed"
		}
		if what := differs(s.Components, g.Components); what != "" {
			return what
		}
	}
	return ""
}

func sameOption(a, b option) bool {
	return visible(a.Label) == visible(b.Label) && a.Value == b.Value && visible(a.Description) == visible(b.Description)
}

// visible removes white space and invisible characters, because Discord trims
// texts and removes characters that it considers invalid.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, s)
}

func undelivered(what string) error {
	return bridge.Errorf(bridge.CodeUnsupported, "discord: the message does not show all of the request: %s", what)
}
