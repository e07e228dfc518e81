package discord

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// guild is the state of a Discord guild and its application. The lock of the
// hub guards it.
type guild struct {
	*core.Base
	opts         Options
	key          ed25519.PrivateKey
	channels     map[string]*channel
	interactions map[string]*interaction   // by token
	modals       map[string]*modal         // by id
	suggested    map[string]map[string]any // last suggestions for each member: values by name
	nonces       map[string]string         // IDs of messages by nonce
	files        core.Files
	attached     map[string][]raw.Object // attachments by message, including those in components
	noEmbeds     map[string]bool         // users whose client hides embeds
	commands     map[string]raw.Object   // by ID
	starts       starts
	lastID       int64
}

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

func newGuild(b *core.Base, o Options) *guild {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic("sandbox: no random numbers: " + err.Error())
	}
	g := &guild{
		Base: b, opts: o, key: key, channels: map[string]*channel{}, interactions: map[string]*interaction{},
		modals: map[string]*modal{}, suggested: map[string]map[string]any{}, nonces: map[string]string{},
		commands: map[string]raw.Object{}, attached: map[string][]raw.Object{}, noEmbeds: map[string]bool{},
	}
	g.add(Channel, "deploys", textChannel)
	g.add(otherChannel, "oncall", textChannel)
	return g
}

func (g *guild) add(id, name string, kind int) *channel {
	ch := &channel{Chat: core.NewChat(id, name, func(m raw.Object) string { return raw.Str(m, "id") }), Kind: kind}
	g.channels[id], g.Chats[id] = ch, &ch.Chat
	return ch
}

// direct returns the direct message channel with a member.
func (g *guild) direct(m core.Account) *channel {
	id := "9" + m.ID[1:]
	if ch := g.channels[id]; ch != nil {
		return ch
	}
	ch := g.add(id, m.Name, directChannel)
	ch.User = m.ID
	return ch
}

// snowflakeEpoch is the start of Discord's time in Unix milliseconds.
const snowflakeEpoch = 1420070400000

// snowflake returns a new ID, which contains the time.
func (g *guild) snowflake() string {
	g.lastID = max(g.lastID+1, (time.Now().UnixMilli()-snowflakeEpoch)<<22)
	return snowflakeText(g.lastID)
}

func snowflakeText(id int64) string { return strconv.FormatInt(id, 10) }

func (g *guild) publicKey() ed25519.PublicKey { return g.key.Public().(ed25519.PublicKey) }

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
func (g *guild) preferEmbeds(m core.Account, shown bool) {
	delete(g.noEmbeds, m.ID)
	if !shown {
		g.noEmbeds[m.ID] = true
	}
	g.Touch()
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
func (e *Emulator) Connections() int { return len(e.gateway.connected()) }
