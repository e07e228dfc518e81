// Package platformtest is the contract of every chat platform: the requirements
// of people and of the engine on an adapter, including under faults of the
// service.
//
// The package of each adapter runs it with [Run], against the emulated service
// of the sandbox and with the real SDK, engine and broker. The contract does
// not depend on a service: differences between services, such as how a person
// types a text, are in the [Harness] of the adapter's test. Tests of a feature
// of a single service, such as Slack's Home tab, belong in the package of its
// adapter. Texts for people belong in the golden files of package render.
//
// Only tests import this package.
package platformtest
