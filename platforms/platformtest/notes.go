package platformtest

import (
	"slices"
	"strings"
	"sync"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// heard counts the notes that each person has received, so that each note
// counts once.
type heard struct {
	mu    sync.Mutex
	notes map[string][]string
}

// Noted waits until a person has a new ephemeral reply that contains words.
func (r *Rig) Noted(who, words string) {
	r.T.Helper()
	r.Eventually(who+" is told "+words, func() bool {
		all := r.Sandbox.Person(who).Notes(r.Harness.Name)
		r.heard.mu.Lock()
		defer r.heard.mu.Unlock()
		known := r.heard.notes[who]
		for n, note := range all {
			if (n >= len(known) || known[n] != note) && strings.Contains(note, words) {
				r.heard.notes[who] = slices.Clone(all)
				return true
			}
		}
		return false
	})
}

// Replied waits until one of the newest messages in the channel contains
// words. It is for services without ephemeral replies.
func (r *Rig) Replied(words string) {
	r.T.Helper()
	const newest = 5
	r.Eventually("the channel is told "+words, func() bool {
		all := r.Messages()
		return slices.ContainsFunc(all[max(0, len(all)-newest):], func(m map[string]any) bool {
			return strings.Contains(sandbox.Texts(m), words)
		})
	})
}
