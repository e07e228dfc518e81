// Package core holds the parts that the emulators of the sandbox share: members
// and their groups, conversations, faults, rate limits, change notification,
// delivery to bots, and the control API.
//
// Code belongs here if it applies to every chat service. The core does not know
// any service: a limit, an error body or a message format of one service
// belongs to the emulator of that service.
package core
