package discord

import (
	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// interaction is the part of an interaction that nod reads.
type interaction struct {
	ID          string                    `json:"id"`
	Application string                    `json:"application_id"`
	Token       string                    `json:"token"`
	Type        discordgo.InteractionType `json:"type"`
	ChannelID   string                    `json:"channel_id"`
	Member      *struct {
		User user `json:"user"`
	} `json:"member"`
	User    *user `json:"user"`
	Message *struct {
		ID    string                 `json:"id"`
		Flags discordgo.MessageFlags `json:"flags"`
	} `json:"message"`
	Data struct {
		Name    string `json:"name"` // name of a command
		Options []struct {
			Name    string `json:"name"`
			Options []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"options"`
		} `json:"options"`
		CustomID   string   `json:"custom_id"`
		Values     []string `json:"values"`
		Components []struct {
			Component field `json:"component"`
		} `json:"components"`
	} `json:"data"`
}

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
}

// field is an input of a submitted modal.
type field struct {
	CustomID string   `json:"custom_id"`
	Value    *string  `json:"value"`
	Values   []string `json:"values"`
}

// known reports whether nod handles interactions of this type.
func (in interaction) known() bool {
	switch in.Type {
	case discordgo.InteractionApplicationCommand, discordgo.InteractionApplicationCommandAutocomplete,
		discordgo.InteractionMessageComponent, discordgo.InteractionModalSubmit:
		return true
	}
	return false
}

// command returns the text of a command: its subcommand and the values, in the
// order of the registered options. People can fill them in in another order.
func (in interaction) command() string {
	if len(in.Data.Options) == 0 {
		return ""
	}
	given := in.Data.Options[0]
	text := given.Name
	for _, sub := range command.Options {
		for _, option := range sub.Options {
			for _, o := range given.Options {
				if sub.Name == given.Name && o.Name == option.Name {
					text += " " + o.Value
				}
			}
		}
	}
	return text
}

// channels returns the names that the channel may have in the config. A direct
// message is configured by the ID of the person.
func (in interaction) channels(who bridge.Actor) []string {
	if in.Member == nil {
		return []string{in.ChannelID, "@" + who.User}
	}
	return []string{in.ChannelID}
}

// private reports whether the clicked message is visible only to the person.
func (in interaction) private() bool {
	return in.Message != nil && in.Message.Flags&discordgo.MessageFlagsEphemeral != 0
}

// click returns the click that an interaction describes.
func (in interaction) click(platform string) bridge.Click {
	u := user{}
	switch {
	case in.Member != nil:
		u = in.Member.User
	case in.User != nil:
		u = *in.User
	}
	c := bridge.Click{
		Ref:   bridge.MessageRef{Channel: in.ChannelID},
		Actor: bridge.Actor{Platform: platform, User: u.ID, Name: platforms.DisplayName(u.GlobalName, u.Username)},
	}
	if in.Message != nil && !in.private() {
		c.Ref.Message = in.Message.ID
	}
	c.Token, c.Picked = discordmsg.Delegated(in.Data.CustomID, in.Data.Values)
	return c
}

// deferred is the reply to a click whose outcome the card shows. Only the
// poster changes the card.
var deferred = reply{Type: discordgo.InteractionResponseDeferredMessageUpdate}

// reply is a response to an interaction.
type reply struct {
	Type discordgo.InteractionResponseType `json:"type"`
	Data any                               `json:"data,omitempty"`
	file *discordmsg.File                  // file sent with the reply
	text string                            // link of a note
}

// note returns a text reply that only the person who clicked sees.
func note(text string) reply {
	r := private(discordmsg.Note(text))
	r.text = text
	return r
}

// noteNotOpened informs a person that no form opened, because another program
// responded first.
const noteNotOpened = "The form did not open, because another program responded to your click. Nothing was recorded. Click again."

// followUp returns a message with the content of the reply, which only the
// person sees. It returns false if there is nothing to show.
func (r reply) followUp() (any, bool) {
	switch r.Type {
	case discordgo.InteractionResponseChannelMessageWithSource:
		return r.Data, true
	case discordgo.InteractionResponseUpdateMessage:
		if e, ok := r.Data.(edit); ok {
			e.Flags |= discordgo.MessageFlagsEphemeral
			return e.body, true
		}
	case discordgo.InteractionResponseModal:
		return note(noteNotOpened).Data, true
	}
	return nil, false
}

// short returns the note without its file.
func (r reply) short() reply { return private(discordmsg.NoteShort(r.text)) }

// private returns a new message that only the person who clicked sees.
func private(m discordmsg.Message) reply {
	b := bodyOf(m, "")
	b.Flags |= discordgo.MessageFlagsEphemeral
	return reply{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: b, file: m.File}
}

// redraw returns a reply that replaces the ephemeral message that was clicked.
func redraw(m discordmsg.Message) reply {
	return reply{Type: discordgo.InteractionResponseUpdateMessage, Data: editOf(m, ""), file: m.File}
}
