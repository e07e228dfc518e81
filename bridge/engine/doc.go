// Package engine carries requests from agents to people and the responses
// back. It has the verbs; package bridge has the nouns and the ports.
//
// An [Engine] is composed of small parts with one job each, such as the
// dispatcher, the settler, or [Grants]. A part takes the ports that it uses and
// the parts that it calls; wire.go and wire_in.go put them together. A part
// never calls one that is made after it.
//
// What belongs here: opening a request, clicks, settling, votes, batches,
// grants, escalation, follow-ups, delivery, chat commands, account linking,
// sealing the audit log, and the decorators of ports that make and check
// proofs. What does not belong here: wire formats (bridge/dialect, bridge/api),
// evidence itself (bridge/proof), cards (render), platforms, and storage
// (broker).
//
// To follow a click, read an adapter's inbound.go, click.go, settle.go, the
// port Outcomes of package bridge, broker/lua/settle.lua, and deliver.go, which
// draws the card again; the sentences for people are in notify.go. To follow a
// request that goes out, read package api, open.go, the port Openings of package
// bridge, broker/lua/open.lua, deliver.go, and the adapter.
package engine
