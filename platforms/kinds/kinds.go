// Package kinds lists the kinds of platforms that nod can connect. The
// definition of a kind belongs in package platforms, and the code of each kind
// in its own package, so a new platform is a package and a line here. Start
// with All.
package kinds

import (
	"slices"

	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

// All lists the kinds in the order in which nod names them.
var All = []platforms.Kind{slack.Kind, discord.Kind, telegram.Kind}

// Names returns the names of all kinds.
func Names() []string {
	var out []string
	for _, k := range All {
		out = append(out, k.Name)
	}
	return out
}

// Named returns the kind with a name.
func Named(name string) (platforms.Kind, bool) {
	n := slices.IndexFunc(All, func(k platforms.Kind) bool { return k.Name == name })
	if n < 0 {
		return platforms.Kind{}, false
	}
	return All[n], true
}
