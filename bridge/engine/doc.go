// Package engine carries requests from agents to people, and their responses back: it
// opens requests, delivers cards, checks clicks, applies deadlines, and makes decisions
// final. It asks everything else through the five seams of [Seams], and knows none of the rooms that
// package rooms composes. Start with click.go, whose first line names the path of a click,
// and with open.go, whose first line names that of a request.
//
// An [Engine] consists of small parts with one job each. A part takes the ports that it
// uses and the parts that it calls; wire.go creates them in that order. Nouns and ports are
// in package bridge, formats in bridge/dialect and bridge/api, evidence in bridge/proof,
// and storage in bridge/core and broker. The engine passes a bridge.View to an adapter,
// which draws the card with package render.
package engine
