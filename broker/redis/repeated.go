package redis

import (
	"strings"

	"github.com/nodbridge/nod/broker"
)

// applied reports whether the stored documents of a stale change come from the
// change itself. If a reply is lost, the client sends the change again. No
// other change has the same versions. It also returns the IDs of the entries of
// the documents.
func (s *Store) applied(c broker.Change, versions []int64, stored []string) (entries []string, mine bool) {
	entries, stored = make([]string, len(c.Journal)), stored[len(c.If):]
	for n, d := range c.Put {
		if d.Fresh {
			continue
		}
		if d.Noted > 0 {
			d.Entry = ""
		}
		entry, same := strings.CutPrefix(stored[0], s.seals.Encode(d, versions[n]))
		if !same || d.Noted > 0 && entry == "" { // the ID of the entry has no seal
			return nil, false
		}
		if d.Noted > 0 {
			entries[d.Noted-1] = entry[1:] // the digits after the mark
		}
		mine, stored = true, stored[1:]
	}
	return entries, mine
}
