package daemon

import "github.com/nodbridge/nod/config"

// For the tests outside of the package, which need a rig.
const (
	BodyTime    = bodyTime
	GuessBurst  = guessBurst
	SignInBurst = signInBurst
)

// Tokens is buildTokens.
var Tokens = buildTokens

// Apply has the daemon apply another config.
func (d *Daemon) Apply(c config.Config) { d.changed <- c }
