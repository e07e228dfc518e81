// Package core is what the emulators of the sandbox share: members and their
// groups, conversations, faults, rate limits, the notice of changes, delivery
// to bots, and the control API.
//
// What belongs here holds for every chat service, and is written once. The
// core knows no service: what only one of them has, such as a limit, an error
// body or the shape of a message, belongs to its emulator.
package core
