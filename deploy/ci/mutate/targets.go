package main

// target is a package in which changes are made.
type target struct {
	path string
	// then lists the packages whose tests run, one at a time, if the tests of
	// the package itself notice nothing.
	then []string
}

// targets lists the packages, starting with those whose tests take the least
// time. Changes are tried in this order.
var targets = []target{
	{"bridge", []string{"bridge/core", "bridge/engine"}},
	{"bridge/life", []string{"bridge/core", "bridge/engine"}},
	{"bridge/proof", []string{"bridge/core"}},
	{"broker", []string{"broker/memory", "bridge/core"}},
	{"broker/memory", []string{"bridge/core"}},
	{"bridge/relay", nil},
	{"bridge/policy", nil},
	{"render/discordmsg", []string{"platforms/discord"}},
	{"render/slackmsg", []string{"platforms/slack"}},
	{"render/telegrammsg", []string{"platforms/telegram"}},
	{"render", []string{"render/discordmsg", "render/slackmsg", "render/telegrammsg", "platforms/telegram"}},
	{"platforms", []string{"platforms/telegram", "platforms/slack", "platforms/discord"}},
	{"platforms/telegram", nil},
	{"platforms/slack", nil},
	{"platforms/discord", nil},
	{"bridge/rooms/webhook", nil},
	{"bridge/people", []string{"bridge/engine"}},
	{"bridge/tell", []string{"bridge/rooms/escalation", "bridge/engine"}},
	{"bridge/rooms/escalation", []string{"bridge/engine"}},
	{"bridge/rooms/passkeys", []string{"bridge/engine"}},
	{"bridge/rooms/grant", []string{"bridge/engine"}},
	{"bridge/rooms/session", []string{"bridge/engine"}},
	{"bridge/engine", []string{"bridge/rooms/escalation", "bridge/rooms/webhook"}},
	{"broker/redis", []string{"bridge/core"}},
	{"bridge/core", []string{"bridge/engine"}},
	{"cmd/nod/daemon", nil},
}
