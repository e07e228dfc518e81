// Package engine carries requests from agents to people and the responses
// back. It has the verbs; package bridge has the nouns and the ports.
//
// What belongs here: opening a request, clicks, settling, votes, batches,
// grants, escalation, follow-ups, delivery, chat commands, account linking,
// and the proofs that the engine makes and checks. What does not belong here:
// wire formats (bridge/dialect, bridge/api), cards (render), platforms, and
// storage (broker).
//
// To follow a click, read in this order: an adapter's inbound.go, click.go,
// settle.go, the ports of package bridge, broker/lua/settle.lua, and
// deliver.go. To follow a request going out, read open.go, policy.go,
// broker/lua/open.lua, deliver.go, and the adapter.
package engine
