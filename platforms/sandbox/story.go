package sandbox

import "slices"

// Note is a line in the pane of the page about the program that uses the
// emulated services.
type Note struct {
	// Kind is says, asks, blocked, unblocked, or try for an invitation to the
	// reader.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Tell sets the lines of the pane. If there are none, the page has no pane.
func (s *Sandbox) Tell(program string, notes ...Note) {
	s.hub.Lock()
	defer s.hub.Unlock()
	s.story = Story{program, slices.Clone(notes)}
	s.hub.Touch()
}

// Story is the content of the pane.
type Story struct {
	Program string `json:"program,omitempty"`
	Notes   []Note `json:"notes,omitempty"`
}
