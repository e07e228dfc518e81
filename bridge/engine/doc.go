// Package engine carries requests from agents to people, and their responses
// back. It opens requests, delivers cards, checks clicks, applies deadlines,
// and makes decisions final. It calls all other features through the five seams
// of [Seams], and does not know the rooms (packages of features) that package
// rooms composes. Start with click.go, whose first line names the path of a
// click, and with open.go, whose first line names the path of a request.
//
// An [Engine] consists of small parts with one job each. A part takes the ports
// that it uses and the parts that it calls; wire.go creates the parts in that
// order. Core types and ports are in package bridge, formats in bridge/dialect
// and bridge/api, evidence in bridge/proof, and storage in bridge/core and
// broker. The engine passes a bridge.View to an adapter, which draws the card
// with package render.
package engine
