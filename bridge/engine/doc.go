// Package engine carries requests from agents to people, and their responses
// back. It holds the verbs of nod. Package bridge holds the nouns and the
// ports.
//
// An [Engine] is composed of small parts with one job each, such as the
// dispatcher, the settler, or [Grants]. A part takes the ports that it uses and
// the parts that it calls. The files wire.go and wire_in.go connect them. A
// part never calls a part that is created after it.
//
// What belongs here: opening a request, clicks, settling, votes,
// grants, escalation, follow-ups, delivery, chat commands, account linking,
// sealing the audit log, and the port decorators that create and check proofs.
// What does not belong here: wire formats (bridge/dialect, bridge/api),
// evidence itself (bridge/proof), cards (render), platforms, and storage
// (broker).
//
// To follow a click, read inbound.go of an adapter, click.go, settle.go, the
// port Outcomes of package bridge, broker/lua/settle.lua, and deliver.go, which
// updates the card. The notes for people are in notify.go. To follow an
// outgoing request, read package api, open.go, the port Openings of package
// bridge, broker/lua/open.lua, deliver.go, and the adapter.
package engine
