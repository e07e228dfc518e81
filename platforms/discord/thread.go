package discord

import (
	"context"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

const (
	archiveAfter = 1440 // minutes without a message
	maxThreads   = 1000 // threads of sessions that are remembered
)

// Thread implements bridge.Threader: a thread on the session's first message.
func (p *Platform) Thread(
	ctx context.Context, d bridge.Destination, first bridge.MessageRef, title string,
) (bridge.Destination, error) {
	if strings.HasPrefix(d.Channel, "@") {
		return d, nil // direct messages have no threads
	}
	if first.Channel != d.Channel {
		d.Thread = first.Channel // the first message was in a thread already
		return d, nil
	}
	d.Thread = first.Message
	if p.ofSession(d.Thread) {
		return d, nil
	}
	name := render.Cut("session "+render.Line(title), 100, render.Runes)
	args := map[string]any{"name": name, "auto_archive_duration": archiveAfter}
	err := p.do(ctx, http.MethodPost, discordgo.EndpointChannelMessageThread(d.Channel, first.Message), args, nil)
	if isCode(err, codeHasThread) {
		err = nil // the ID of a thread is that of its message
	}
	if err == nil {
		p.remember(d.Thread)
	}
	return d, err
}

func (p *Platform) remember(thread string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.threads) >= maxThreads {
		clear(p.threads)
	}
	p.threads[thread] = true
}

// ofSession reports whether Thread returned a thread. The configuration names
// other threads.
func (p *Platform) ofSession(thread string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads[thread]
}

// closedToUs reports whether an error means that a thread takes no messages
// from the bot: it was deleted or locked, or a permission is missing.
func closedToUs(err error) bool {
	return isCode(err, codeNoChannel) || isCode(err, codeLocked) || isCode(err, codeArchived) ||
		isCode(err, codeNoAccess) || isCode(err, codeNotAllowed)
}
