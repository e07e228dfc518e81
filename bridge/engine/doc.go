// Package engine carries requests from agents to people, and their responses
// back. It holds the verbs of nod. Package bridge holds the nouns and the
// ports.
//
// An [Engine] is composed of small parts with one job each, such as the
// dispatcher, the settler, or [Grants]. A part takes the ports that it uses and
// the parts that it calls. The files wire.go and wire_in.go connect them. A
// part never calls a part that is created after it. The file checks.go has the
// order in which clicks and decisions are checked.
//
// What belongs here: opening a request, clicks, settling, votes,
// escalation, follow-ups, delivery, and account
// linking. What does not belong here: wire formats (bridge/dialect, bridge/api),
// evidence itself (bridge/proof), cards (render), platforms, and storage
// (broker).
//
// To follow a click, read inbound.go of an adapter, checks.go, click.go, settle.go,
// resolve.go of bridge/core and of bridge/life, and deliver.go, which updates the
// card. The notes for people are in notify.go. To follow an outgoing request, read
// package api, open.go, then open.go of bridge/core and of bridge/life, deliver.go,
// and the adapter.
package engine
