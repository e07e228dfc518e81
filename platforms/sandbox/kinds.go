package sandbox

import (
	"slices"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// Kind describes how to build the emulator of a service.
type Kind struct {
	Name string
	// Account returns the ID of a member on the service.
	Account func(Member) string
	// Controls lists the controls of a message.
	Controls func(message map[string]any) []Control
	// New returns an emulator with the accounts of the members.
	New func(h *core.Hub, members []core.Account, o Options) core.Service
}

// Kinds lists the emulated services.
var Kinds = []Kind{
	{
		Name: slack.Name, Account: func(m Member) string { return m.Slack }, Controls: slack.Controls,
		New: func(h *core.Hub, members []core.Account, o Options) core.Service {
			return slack.New(h, members, slack.Options{URL: o.Callbacks[slack.Name]})
		},
	},
	{
		Name: discord.Name, Account: func(m Member) string { return m.Discord }, Controls: discord.Controls,
		New: func(h *core.Hub, members []core.Account, o Options) core.Service {
			return discord.New(h, members, discord.Options{
				URL: o.Callbacks[discord.Name], Heartbeat: o.Heartbeat, Starts: o.DiscordStarts, StartsPer: o.DiscordStartsPer,
			})
		},
	},
	{
		Name: telegram.Name, Account: func(m Member) string { return strconv.FormatInt(m.Telegram, 10) }, Controls: telegram.Controls,
		New: func(h *core.Hub, members []core.Account, _ Options) core.Service { return telegram.New(h, members) },
	},
}

// emulator returns a new emulator of the kind.
func (k Kind) emulator(h *core.Hub, o Options) core.Service {
	var accounts []core.Account
	for _, m := range SampleMembers() {
		accounts = append(accounts, core.Account{Key: m.Key, Name: m.Name, ID: k.Account(m)})
	}
	return k.New(h, accounts, o)
}

// Controls lists the controls of a message.
func Controls(service string, m map[string]any) []Control {
	if n := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == service }); n >= 0 {
		return Kinds[n].Controls(m)
	}
	return nil
}

// on returns the emulator of a service.
func (s *Sandbox) on(service string) core.Service {
	if on, known := s.services[service]; known {
		return on
	}
	return core.None(s.hub, service)
}
