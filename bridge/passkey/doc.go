// Package passkey creates and verifies signatures that a person makes with a
// passkey, with WebAuthn.
//
// A person signs a [Statement]: one decision about one request. Its challenge
// is a hash of the statement, so the signature covers it. A [Site] is the web
// origin of a daemon. It creates the options for the browser and checks the
// response of the browser. [Verify] and [Keys.Verify] check an [Assertion]
// offline, with a public key only. All of them require user verification, such
// as a fingerprint or a PIN.
//
// Code belongs here if it works on values alone. Package bridge/rooms/passkeys
// stores keys and tickets, and bridge/console has the pages. Start with [Site]
// and [Verify].
package passkey
