// Package engine carries requests from agents to people, and their responses
// back: it opens requests, applies the ruling of the policy, delivers cards and
// checks clicks. It stores through package core, imports no room and no
// adapter, and calls the rooms (packages of features) through [Seams]: openers,
// deciders, resolvers, workers and showers. Start with click.go and open.go,
// whose first lines name the paths of a click and of a request.
//
// An [Engine] consists of small parts with one job each. A part takes the ports
// that it uses and the parts that it calls; wire.go creates the parts in that
// order. The policy, the redactor and the directory are ports of package
// bridge, which the daemon passes to it. The engine passes a bridge.View to an
// adapter, which draws the card with package render.
package engine
