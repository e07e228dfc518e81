package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/discordmsg"
)

// change edits a message. Discord refuses an edit in an archived thread, so
// change reopens the thread first. Discord archives it again after its time.
func (p *Platform) change(ctx context.Context, ref bridge.MessageRef, e edit, f *discordmsg.File, out any) error {
	endpoint := discordgo.EndpointChannelMessage(ref.Channel, ref.Message)
	err := p.send(ctx, http.MethodPatch, endpoint, e, f, out)
	if !isCode(err, codeArchived) {
		return err
	}
	open := map[string]bool{"archived": false}
	if err := p.do(ctx, http.MethodPatch, discordgo.EndpointChannel(ref.Channel), open, nil); err != nil {
		return err
	}
	return p.send(ctx, http.MethodPatch, endpoint, e, f, out)
}
