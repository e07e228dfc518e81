package discord

import (
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/render/discordmsg"
)

// silent mentions no one. Discord requires it on every create and edit.
var silent = discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}

// mentioning mentions the given users and roles, and no one else. Discord
// refuses a list that contains an ID more than once.
func mentioning(users, roles []string) discordgo.MessageAllowedMentions {
	m := silent
	m.Users, m.Roles = unique(users), unique(roles)
	return m
}

func unique(ids []string) []string {
	var out []string
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// mentions returns the mentions of a message. An edit repeats them, because
// Discord otherwise mentions everyone whose name is in the text.
func mentions(m discordmsg.Message) discordgo.MessageAllowedMentions {
	return mentioning(m.Users, m.Roles)
}

// opening is a plain text message. A card starts as an opening, because the
// notification of a message with components has no text
// (github.com/discord/discord-api-docs/issues/7854).
type opening struct {
	Content         string                           `json:"content"`
	AllowedMentions discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Nonce           string                           `json:"nonce"`
	EnforceNonce    bool                             `json:"enforce_nonce"`
}

// body is a message with components.
type body struct {
	Components      []discordgo.MessageComponent     `json:"components"`
	AllowedMentions discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Flags           discordgo.MessageFlags           `json:"flags"`
	Attachments     []attachment                     `json:"attachments"`
}

// edit is a body that replaces the content of a message, such as an opening, for
// whose links Discord may have added embeds. Discord adds the flag for
// components only to a message whose text and embeds are cleared in the same
// request.
type edit struct {
	body
	Content *string                   `json:"content"`
	Embeds  []*discordgo.MessageEmbed `json:"embeds"`
}

// attachment is a file that the message has after the request. A new file is
// identified by its index in the request, and an existing file by its ID.
type attachment struct {
	ID       string `json:"id"`
	Filename string `json:"filename,omitempty"`
}

// bodyOf returns the body of a message. The argument kept is the ID of an
// existing attachment. If it is empty, the file is uploaded.
func bodyOf(m discordmsg.Message, kept string) body {
	b := body{
		Components: m.Components, AllowedMentions: mentions(m), Flags: discordgo.MessageFlagsIsComponentsV2,
		Attachments: []attachment{},
	}
	switch {
	case m.File == nil:
	case kept == "":
		b.Attachments = append(b.Attachments, attachment{ID: "0", Filename: m.File.Name})
	default:
		b.Attachments = append(b.Attachments, attachment{ID: kept})
	}
	return b
}

// editOf returns the edit that turns a message into m.
func editOf(m discordmsg.Message, kept string) edit {
	return edit{body: bodyOf(m, kept), Embeds: []*discordgo.MessageEmbed{}}
}

// notice is a message with components in one request. It sends no notification,
// because a notification would have no text.
type notice struct {
	body
	Nonce        string `json:"nonce"`
	EnforceNonce bool   `json:"enforce_nonce"`
}
