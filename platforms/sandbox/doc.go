// Package sandbox emulates the parts of Slack, Discord and Telegram that an
// interactive bot uses, over real HTTP and WebSocket, so that SDKs connect to
// it unchanged. It enforces the limits of the services, returns their error
// bodies, and can inject faults.
//
// It imports no package of nod except bridge/lazyregexp. It decodes the
// requests of bots as raw JSON and keeps its own data, so it can contradict a
// bot that misunderstands a service.
//
//	/slack/api/…        Web API; /slack/socket Socket Mode
//	/discord/api/v10/…  REST, also v9; /discord/gateway
//	/telegram/bot…/…    Bot API
//	/control/…          actions of members, faults, the state and a live stream of it
//	/                   a page with the three chats
//
// Every caller can act as any member, so serve the sandbox on loopback only.
//
// Code belongs here if it joins the emulators: their list, Kinds, their common
// members, their state, and the page. Each emulator has its own package.
// Package core holds the parts that they share, and package raw reads JSON.
package sandbox
