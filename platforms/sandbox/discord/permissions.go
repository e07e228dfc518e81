package discord

import "github.com/nodbridge/nod/platforms/sandbox/raw"

// bits are the permissions of the bot by name. The fault missing_permission
// uses these names.
var bits = map[string]int64{
	"VIEW_CHANNEL": 1 << 10, "SEND_MESSAGES": 1 << 11, "EMBED_LINKS": 1 << 14, "ATTACH_FILES": 1 << 15,
	"READ_MESSAGE_HISTORY": 1 << 16, "CREATE_PUBLIC_THREADS": 1 << 35, "SEND_MESSAGES_IN_THREADS": 1 << 38,
}

// permissions returns the permissions of the bot in every channel of the guild.
// The caller holds the lock.
func (g *guild) permissions() int64 {
	var all int64
	for _, bit := range bits {
		all |= bit
	}
	if len(g.Named("no_permission")) > 0 {
		all &= bits["VIEW_CHANNEL"]
	}
	for _, name := range g.Named("missing_permission") {
		all &^= bits[name]
	}
	return all
}

// may reports whether the bot has a permission in a channel. Direct messages
// need no permissions.
func (g *guild) may(ch *channel, name string) bool {
	return ch.Kind == directChannel || g.permissions()&bits[name] != 0
}

// mayPost returns an error if the bot may not post in a channel.
func (g *guild) mayPost(ch *channel, c *call) *failure {
	send := "SEND_MESSAGES"
	if ch.isThread() {
		send = "SEND_MESSAGES_IN_THREADS"
	}
	switch {
	case ch.Kind == directChannel && len(g.Named("no_direct")) > 0:
		return cannotSend
	case !g.may(ch, "VIEW_CHANNEL"):
		return noAccess
	case !g.may(ch, send):
		return notAllowed
	case raw.Sub(c.args, "message_reference") != nil && !g.may(ch, "READ_MESSAGE_HISTORY"):
		return invalid("message_reference", "REPLIES_REQUIRE_MESSAGE_HISTORY",
			"Cannot reply without permission to read message history")
	}
	return nil
}
