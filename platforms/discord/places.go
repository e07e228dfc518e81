package discord

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

const (
	// archiveAfter is the time without a message after which Discord archives a
	// thread, in minutes. It is the longest time that Discord accepts. In an
	// archived thread, the buttons fail on phones and in browsers for people
	// who may not write there: discord/discord-api-docs#8474.
	archiveAfter  = 10080
	maxThreads    = 1000 // number of session threads that are remembered
	maxThreadName = 100  // characters
	maxGuilds     = 1000 // number of channels whose server is remembered
)

// places finds the channels of destinations: direct messages, and the threads
// of sessions. It is safe for concurrent use.
type places struct {
	api *api

	mu      sync.Mutex
	directs map[string]string // channel of a direct message by user
	threads map[string]bool   // threads of sessions
	guilds  map[string]string // server by channel; "@me" for direct messages
}

func newPlaces(a *api) *places {
	return &places{api: a, directs: map[string]string{}, threads: map[string]bool{}, guilds: map[string]string{}}
}

// channel returns the ID of the channel or thread of a destination. If the
// destination is "@" followed by a user ID, it opens the direct message
// channel.
func (pl *places) channel(ctx context.Context, d bridge.Destination) (string, error) {
	if d.Thread != "" {
		return d.Thread, nil
	}
	user, direct := strings.CutPrefix(d.Channel, "@")
	if !direct {
		return d.Channel, nil
	}
	pl.mu.Lock()
	id := pl.directs[user]
	pl.mu.Unlock()
	if id != "" {
		return id, nil
	}
	var out struct {
		ID string `json:"id"`
	}
	args := map[string]string{"recipient_id": user}
	if err := pl.api.do(ctx, http.MethodPost, discordgo.EndpointUserChannels("@me"), args, &out); err != nil {
		return "", err
	}
	pl.mu.Lock()
	pl.directs[user] = out.ID
	pl.mu.Unlock()
	return out.ID, nil
}

// thread returns the destination of a session's messages after the first. It
// starts a thread on the first message.
func (pl *places) thread(
	ctx context.Context, d bridge.Destination, first bridge.MessageRef, title string,
) (bridge.Destination, error) {
	if strings.HasPrefix(d.Channel, "@") {
		return d, nil // direct messages have no threads
	}
	if first.Channel != d.Channel {
		d.Thread = first.Channel // the first message is already in a thread
		return d, nil
	}
	d.Thread = first.Message
	if pl.ofSession(d.Thread) {
		return d, nil
	}
	name := render.Cut(render.Line(title), maxThreadName, render.Runes)
	args := map[string]any{"name": name, "auto_archive_duration": archiveAfter}
	err := pl.api.do(ctx, http.MethodPost, discordgo.EndpointChannelMessageThread(d.Channel, first.Message), args, nil)
	if err == nil {
		pl.remember(d.Thread)
	}
	return d, err
}

func (pl *places) remember(thread string) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if len(pl.threads) >= maxThreads {
		clear(pl.threads)
	}
	pl.threads[thread] = true
}

// ofSession reports whether nod started a thread for a session. The config
// names other threads.
func (pl *places) ofSession(thread string) bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.threads[thread]
}

// link returns the URL of a message. It is empty if Discord does not return the
// server of the channel.
func (pl *places) link(ctx context.Context, ref bridge.MessageRef) string {
	pl.mu.Lock()
	guild := pl.guilds[ref.Channel]
	pl.mu.Unlock()
	if guild == "" {
		var c discordgo.Channel
		if err := pl.api.do(ctx, http.MethodGet, discordgo.EndpointChannel(ref.Channel), nil, &c); err != nil {
			return ""
		}
		guild = cmp.Or(c.GuildID, "@me")
		pl.mu.Lock()
		if len(pl.guilds) >= maxGuilds {
			clear(pl.guilds)
		}
		pl.guilds[ref.Channel] = guild
		pl.mu.Unlock()
	}
	return "https://discord.com/channels/" + guild + "/" + ref.Channel + "/" + ref.Message
}
