package person

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Watch records the actions of the people in a test, and the messages that they
// have read. It is safe for concurrent use.
type Watch struct {
	mu       sync.Mutex
	expected map[reader]int
	heard    map[reader]map[string]int       // how often a person has read each private message
	cards    map[sandbox.Place]sandbox.Place // cards by their menus and modals
	recorded []deed
}

// reader is a person on a service.
type reader struct{ who, service string }

// deed is an action that nod acknowledged as recorded.
type deed struct {
	who    string
	at     sandbox.Place
	before map[string]any // the card
	notes  []string       // private messages of the person
}

// newWatch returns an empty Watch.
func newWatch() *Watch {
	return &Watch{expected: map[reader]int{}, heard: map[reader]map[string]int{}, cards: map[sandbox.Place]sandbox.Place{}}
}

// Watched fails the test at its end if nod did not record an action, unless the
// test made nod fail. It also fails if nod acknowledged an action and lost it:
// each action on a card must tell the person something, open something, or
// change the card.
func (h *Hands) Watched() {
	h.T.Cleanup(func() {
		if h.T.Failed() {
			return
		}
		if !h.Faulty {
			h.Watch.unrecorded(h.T, h.Sandbox)
		}
		h.Clear(h.Lost)
	})
}

// Lost describes an action that nod acknowledged but that has not changed
// anything so far. It returns "" if there is no such action.
func (h *Hands) Lost() string {
	h.Watch.mu.Lock()
	defer h.Watch.mu.Unlock()
	for _, d := range h.Watch.recorded {
		told := !slices.Equal(notes(h.Sandbox, d.who, d.at.Service), d.notes)
		if !told && reflect.DeepEqual(h.Sandbox.Message(d.at), d.before) {
			return fmt.Sprintf("nod acknowledged an action of %s on %+v and lost it: the card is unchanged", d.who, d.at)
		}
	}
	return ""
}

// notes returns the private messages from a person, sorted.
func notes(s *sandbox.Sandbox, who, service string) []string {
	return slices.Sorted(slices.Values(s.Person(who).Notes(service)))
}

// unrecorded fails the test if a private message told someone that nod did not
// record an action.
func (w *Watch) unrecorded(t testing.TB, s *sandbox.Sandbox) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range sandbox.SampleMembers() {
		for service := range apps {
			told := slices.DeleteFunc(notes(s, m.Key, service), func(note string) bool { return !strings.Contains(note, bridge.NoteNotRecorded) })
			if len(told) > w.expected[reader{m.Key, service}] {
				t.Errorf("%s read on %s that nod did not record an action: %q", m.Key, service, told)
			}
		}
	}
}

// expect allows one message about an unrecorded action, because the test makes
// nod fail.
func (w *Watch) expect(who, service string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected[reader{who, service}]++
}

// begins records the content of a card before an action. The returned function
// must be called with the reaction.
func (w *Watch) begins(s *sandbox.Sandbox, who string, at sandbox.Place) func(sandbox.Reaction) {
	w.mu.Lock()
	card := at
	if of, ok := w.cards[at]; ok {
		card = of
	}
	w.mu.Unlock()
	d := deed{who, card, s.Message(card), notes(s, who, at.Service)}
	return func(r sandbox.Reaction) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.Modal != "" {
			w.cards[sandbox.Place{Service: at.Service, Message: r.Modal}] = card
		}
		if said := r.Alert || len(r.Errors) > 0 || r.Modal != ""; d.before != nil && r.OK && !said {
			w.recorded = append(w.recorded, d)
		}
	}
}

// belongs records the card of a menu.
func (w *Watch) belongs(menu, card sandbox.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of, ok := w.cards[card]; ok {
		card = of
	}
	w.cards[menu] = card
}

// opener returns the place of the control that opened a modal.
func (w *Watch) opener(service, modal string) sandbox.Place {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cards[sandbox.Place{Service: service, Message: modal}]
}

// reads reports whether a person has an unread private message with a word.
func (w *Watch) reads(s *sandbox.Sandbox, who, service, word string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := map[string]int{}
	found := false
	for _, note := range s.Person(who).Notes(service) {
		count[note]++
		found = found || strings.Contains(note, word) && count[note] > w.heard[reader{who, service}][note]
	}
	if found {
		w.heard[reader{who, service}] = maps.Clone(count)
	}
	return found
}
