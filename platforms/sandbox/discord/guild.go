package discord

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Kinds of channels.
const (
	textChannel   = 0
	directChannel = 1
	newsChannel   = 5
	newsThread    = 10
	thread        = 11
)

type channel struct {
	core.Chat
	Kind int
	threadState
	edits []time.Time // times of recent edits of old messages
}

// modal is an open modal.
type modal struct {
	ID      string
	User    string
	Channel string
	Data    raw.Object
	Message raw.Object // message with the component that opened it
}

func (e *Emulator) add(id, name string, kind int) *channel {
	ch := &channel{Chat: core.NewChat(id, name, func(m raw.Object) string { return raw.Str(m, "id") }), Kind: kind}
	e.channels[id], e.Chats[id] = ch, &ch.Chat
	return ch
}

// direct returns the direct message channel with a member.
func (e *Emulator) direct(m core.Account) *channel {
	id := "9" + m.ID[1:]
	if ch := e.channels[id]; ch != nil {
		return ch
	}
	ch := e.add(id, m.Name, directChannel)
	ch.User = m.ID
	return ch
}

// snowflakeEpoch is the start of Discord's time in Unix milliseconds.
const snowflakeEpoch = 1420070400000

// snowflake returns a new ID, which contains the time.
func (e *Emulator) snowflake() string {
	e.lastID = max(e.lastID+1, (time.Now().UnixMilli()-snowflakeEpoch)<<22)
	return snowflakeText(e.lastID)
}

func snowflakeText(id int64) string { return strconv.FormatInt(id, 10) }

func (ch *channel) json() raw.Object {
	o := raw.Object{
		"id": ch.ID, "type": ch.Kind, "name": ch.Name, "guild_id": Guild, "position": 0,
		"permission_overwrites": []any{}, "nsfw": false,
	}
	if ch.Kind == directChannel {
		o = raw.Object{"id": ch.ID, "type": ch.Kind, "recipients": []any{raw.Object{"id": ch.User}}}
	}
	if ch.Parent != "" {
		o["parent_id"], o["owner_id"] = ch.Parent, BotUser
		o["message_count"], o["member_count"], o["total_message_sent"] = len(ch.Messages), 1, len(ch.Messages)
		o["rate_limit_per_user"], o["flags"], o["last_message_id"] = 0, 0, nil
		o["thread_metadata"] = ch.threadJSON()
	}
	return o
}

func botJSON() raw.Object {
	return raw.Object{
		"id": BotUser, "username": "nod", "discriminator": "0000", "global_name": nil, "avatar": nil, "bot": true, "flags": 0,
	}
}

// preferEmbeds sets whether a member's client shows embeds.
func (e *Emulator) preferEmbeds(m core.Account, shown bool) {
	delete(e.noEmbeds, m.ID)
	if !shown {
		e.noEmbeds[m.ID] = true
	}
	e.Touch()
}

// State is a copy of the channels and modals of the guild.
type State struct {
	Connections int              `json:"connections"`
	Channels    []core.ChatState `json:"channels"`
	Modals      []core.ViewState `json:"modals"`
	NoEmbeds    []string         `json:"no_embeds"` // users whose client hides embeds
	Archived    []string         `json:"archived"`  // IDs of archived threads
	Starts      int              `json:"starts"`    // gateway sessions that the bot started in the current period
	TokenReset  bool             `json:"token_reset"`
	Roles       []raw.Object     `json:"roles"`
	Bot         string           `json:"bot"` // ID of the bot user
}

// State returns a copy of the guild. The caller holds the lock.
func (e *Emulator) State() State {
	st := State{
		Connections: e.Connections(), Channels: e.States(), Modals: []core.ViewState{},
		NoEmbeds: slices.Sorted(maps.Keys(e.noEmbeds)), Archived: []string{},
		Starts: e.starts.used, TokenReset: e.starts.reset, Roles: e.roles(), Bot: BotUser,
	}
	for _, c := range e.channels {
		if c.archived() {
			st.Archived = append(st.Archived, c.ID)
		}
	}
	slices.Sort(st.Archived)
	for _, m := range e.modals {
		st.Modals = append(st.Modals, core.ViewState{ID: m.ID, User: m.User, View: raw.Copy(m.Data)})
	}
	return st
}

// AddChannel adds a text channel and returns its ID. A different n adds a
// different channel.
func (e *Emulator) AddChannel(n int) string {
	e.Lock()
	defer e.Unlock()
	return e.add(strconv.Itoa(100000000000100000+n), fmt.Sprintf("more-%d", n), textChannel).ID
}

// Connections returns the number of sessions of bots. The caller holds the lock.
func (e *Emulator) Connections() int { return len(e.connected()) }
