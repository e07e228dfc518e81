package slack

import (
	"context"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// commands runs /nod.
type commands struct {
	*workspace
	sink bridge.Sink
}

// told is the reply to a slash command. Only the person who sent the command
// sees it.
type told struct {
	Type   string        `json:"response_type"`
	Text   string        `json:"text"`
	Blocks []slack.Block `json:"blocks"`
}

func (c commands) run(ctx context.Context, in payload) told {
	channels := []string{in.ChannelID}
	if strings.HasPrefix(in.ChannelID, "D") { // the config names a direct message by the ID of its member
		channels = append(channels, in.UserID)
	}
	note, err := c.sink.Command(ctx, bridge.Command{
		Actor:    bridge.Actor{Platform: c.name, User: in.UserID, Name: platforms.DisplayName(in.UserName, "")},
		Channels: channels, Text: in.Text,
	})
	if err != nil {
		c.log.Error("command failed", "platform", c.name, "error", err)
		note = bridge.NoteNotDone
	}
	text, blocks := slackmsg.List(note)
	return told{Type: slack.ResponseTypeEphemeral, Text: text, Blocks: blocks}
}
