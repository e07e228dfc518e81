package sandbox

// discordPermissions are the permissions of the bot here, by the names that a
// fault missing_permission gives them.
var discordPermissions = map[string]int64{
	"VIEW_CHANNEL": 1 << 10, "SEND_MESSAGES": 1 << 11, "EMBED_LINKS": 1 << 14, "ATTACH_FILES": 1 << 15,
	"READ_MESSAGE_HISTORY": 1 << 16, "CREATE_PUBLIC_THREADS": 1 << 35, "SEND_MESSAGES_IN_THREADS": 1 << 38,
}

// permissions are those that the bot has in every channel of the guild. The
// caller holds mu.
func (w *discordWorld) permissions() int64 {
	var all int64
	for _, bit := range discordPermissions {
		all |= bit
	}
	for _, f := range w.s.faults {
		switch {
		case f.Service != "discord":
		case f.Kind == "no_permission":
			all &= discordPermissions["VIEW_CHANNEL"]
		case f.Kind == "missing_permission":
			all &^= discordPermissions[f.Method]
		}
	}
	return all
}

// may reports whether the bot has a permission in a channel. In a direct
// message there are none to have.
func (w *discordWorld) may(ch *discordChannel, name string) bool {
	return ch.Kind == 1 || w.permissions()&discordPermissions[name] != 0
}

// mayPost returns the error for a bot that may not post into a channel.
func (w *discordWorld) mayPost(ch *discordChannel, c *discordCall) *discordFailure {
	send := "SEND_MESSAGES"
	if ch.Kind == 11 {
		send = "SEND_MESSAGES_IN_THREADS"
	}
	switch {
	case !w.may(ch, "VIEW_CHANNEL"):
		return discordNoAccess
	case !w.may(ch, send):
		return discordNotAllowed
	case sub(c.args, "message_reference") != nil && !w.may(ch, "READ_MESSAGE_HISTORY"):
		return discordInvalid("message_reference", "REPLIES_REQUIRE_MESSAGE_HISTORY", "Cannot reply without permission to read message history")
	}
	return nil
}

// preferEmbeds is a member's own setting: whether their client shows embeds.
func (w *discordWorld) preferEmbeds(m Member, shown bool) {
	delete(w.noEmbeds, m.Discord)
	if !shown {
		w.noEmbeds[m.Discord] = true
	}
	w.s.touch()
}

// Sees returns what a member can read on a message. On Discord it leaves out
// the embeds that the member's client hides, and adds the content of the files
// that the message shows.
func (p Person) Sees(at Place) string {
	shown := p.s.Message(at)
	m, err := p.s.member(p.key)
	if shown == nil || err != nil || at.Service != "discord" {
		return Texts(shown)
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	w := p.s.discord
	if w.noEmbeds[m.Discord] {
		delete(shown, "embeds")
	}
	said := Texts(shown)
	for _, id := range shownFiles(shown) {
		said += "\n" + string(w.files[id])
	}
	return said
}

// shownFiles are the IDs of the attachments that a message shows.
func shownFiles(m object) []string {
	var out []string
	for _, v := range list(m, "attachments") {
		o, _ := v.(object)
		if discordFlags(m)&discordV2 == 0 { // otherwise only components show them
			out = append(out, str(o, "id"))
		}
	}
	for _, c := range discordComponents(list(m, "components")) {
		if kindOf(c) == 13 {
			out = append(out, str(sub(c, "file"), "attachment_id"))
		}
	}
	return out
}
