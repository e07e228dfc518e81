package sandbox

import "slices"

// Note is one line of the pane that tells on the page what the program does
// that uses the emulated services.
type Note struct {
	// Kind is says, asks, blocked, unblocked, or try for an invitation to the
	// reader.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Tell sets the lines of the pane. Without lines, the page has no pane.
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
