package daemon

import "github.com/nodbridge/nod/config"

// Exported for the tests outside the package, which need a rig.
const (
	GuessBurst  = guessBurst
	SignInBurst = signInBurst
)

// Tokens exports buildTokens.
var Tokens = buildTokens

// Apply makes the daemon apply another config.
func (d *Daemon) Apply(c config.Config) { d.changed <- change{config: c} }
