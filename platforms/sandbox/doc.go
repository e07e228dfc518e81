// Package sandbox emulates the parts of Slack, Discord and Telegram that an
// interactive bot touches, over real HTTP and WebSocket: SDKs connect to it
// unchanged. It enforces the services' limits, answers with their error
// bodies, and can be told to misbehave.
//
// It knows nothing of nod. It decodes what bots send as raw JSON and keeps its
// own data, so it can contradict a bot that misunderstands a service.
//
//	/slack/api/…        Web API; /slack/socket Socket Mode
//	/discord/api/v10/…  REST, also v9; /discord/gateway
//	/telegram/bot…/…    Bot API
//	/control/…          what people do, faults, state, a live stream of it
//	/                   a page with the three chats
//
// Every caller can act as any of its members: serve it on loopback.
//
// Code belongs here if it joins the three emulators: their common members,
// their state, and the page. Each emulator has a package of its own. Package
// core holds the parts that they share, and package raw reads JSON.
package sandbox
