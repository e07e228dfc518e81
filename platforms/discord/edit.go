package discord

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// Discord limits the edits of messages older than an hour. It does not document
// the limit, and does not say how long to wait. According to a report, it is
// three edits in 20 seconds for each channel:
// github.com/discord/discord-api-docs/issues/4413.
const (
	oldAfter   = time.Hour
	oldEdits   = 3
	oldEditsIn = 20 * time.Second
)

// snowflakeEpoch is the start of Discord's time in Unix milliseconds.
const snowflakeEpoch = 1420070400000

// old reports whether a message is older than an hour at the time now.
func old(message string, now time.Time) bool {
	sent := sentAt(message)
	return !sent.IsZero() && now.Sub(sent) > oldAfter
}

// change edits a message. If Discord refuses the edit because the thread is
// archived, change reopens the thread, and repeats the edit. Discord archives the
// thread again after its archive time. If a thread stays closed, people cannot
// click in it either:
// github.com/discord/discord-api-docs/issues/7900.
func (po *poster) change(ctx context.Context, ref bridge.MessageRef, e edit, f *discordmsg.File, out any) error {
	endpoint := discordgo.EndpointChannelMessage(ref.Channel, ref.Message)
	err := po.api.send(ctx, http.MethodPatch, endpoint, e, f, out)
	if platforms.Is(err, platforms.AboutSetting) {
		open := map[string]bool{"archived": false}
		if err = po.api.do(ctx, http.MethodPatch, discordgo.EndpointChannel(ref.Channel), open, nil); err == nil {
			return po.api.send(ctx, http.MethodPatch, endpoint, e, f, out)
		}
		if !platforms.Is(err, platforms.AboutChannel, platforms.AboutThread) {
			return err
		}
	} else if !platforms.Is(err, platforms.AboutThread) {
		return err
	}
	return platforms.Row{About: platforms.AboutClosed, Fix: "unlock the thread"}.Err(err, "discord: no one can use the card, because its thread is closed: %s", bridge.PublicError(err).Message)
}

// sentAt returns the time in the ID of a message, or zero if there is none.
func sentAt(message string) time.Time {
	id, err := strconv.ParseInt(message, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(id>>22 + snowflakeEpoch)
}
