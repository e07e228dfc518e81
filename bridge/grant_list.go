package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// ID identifies the grant to people. It does not change when the grant is given
// again.
func (g Grant) ID() string {
	sum := sha256.Sum256([]byte(g.Agent + "\x00" + g.Session + "\x00" + g.Key))
	return hex.EncodeToString(sum[:6])
}

// Words returns a text that states what the grant covers, when it ends, and who
// gave it.
func (g Grant) Words() string {
	var givers []string
	for _, a := range g.Givers {
		givers = append(givers, readable(OneLine(a.Display())))
	}
	return g.Covers + " Given by " + strings.Join(givers, ", ") + " until " + g.Expires.UTC().Format("2006-01-02 15:04 UTC") + "."
}

// GrantIDs returns the IDs of grants, the newest grant first.
func GrantIDs(all []Grant) []string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Grant) int { return b.At.Compare(a.At) })
	ids := make([]string, len(all))
	for n, g := range all {
		ids[n] = g.ID()
	}
	return ids
}
