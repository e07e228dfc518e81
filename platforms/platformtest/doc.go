// Package platformtest is the contract of every chat platform: what an adapter
// must do for people, for the engine and against the service's faults.
//
// The package of each adapter runs it with [Run], against the emulated service
// of the sandbox and with the real SDK, engine and broker. The contract knows
// no service: whatever differs between them, such as how a person types a text,
// is in the [Harness] that the adapter's test passes. What only one service
// has, such as Slack's Home tab, belongs in the tests of its adapter, and
// what people read belongs in the golden files of package render.
//
// Only tests import this package.
package platformtest
