package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// story tells the story of a protocol's document on the real binary, with all
// platforms at once. It writes down what each party does and sees.
type story struct {
	*rig.Crash
	name    string
	text    strings.Builder
	parties []*party
	names   map[string]string // of IDs and times, in the order in which they appear
}

// newStory starts the binary. The golden file is testdata/stories/NAME.txt.
func newStory(t *testing.T, name string) *story {
	t.Helper()
	s := &story{Crash: seedRig(t, rig.Services...), name: name, names: map[string]string{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the story so far:\n%s", s.text.String())
		}
	})
	return s
}

// step begins a part of the story.
func (s *story) step(format string, args ...any) {
	fmt.Fprintf(&s.text, "\n== %s\n", fmt.Sprintf(format, args...))
}

// note writes down what a party does or sees.
func (s *story) note(who, verb, what string) {
	s.text.WriteString(strings.TrimRight(who+" "+verb+" "+s.stable(what), " ") + "\n")
}

// changing matches the parts of a text that differ between runs: times, as
// frames and cards write them, IDs, and cursors of messages.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z` +
	`|[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|<!date\^[^>]*>|<t:\d+(:\w)?>|[A-Z][a-z]{2} \d+, \d\d:\d\d(:\d\d)? UTC|(\d{4}-\d\d-\d\d )?\d\d:\d\d(:\d\d)? UTC` +
	`|"(messageId|through)":"[^"]*"`)

// timestamp matches the time of a frame.
var timestamp = regexp.MustCompile(`"timestamp":"[^"]*"`)

// stable replaces IDs and times with names: equal ones get the same name.
func (s *story) stable(text string) string {
	if strings.Contains(text, `"state":"undeliverable"`) { // closed as it is opened, perhaps a millisecond later
		text = timestamp.ReplaceAllString(text, `"timestamp":"SOON"`)
	}
	return changing.ReplaceAllStringFunc(text, func(v string) string {
		kind := "ID"
		switch {
		case v[0] == '"':
			return strings.Split(v, ":")[0] + `:"MESSAGE"`
		case strings.HasPrefix(v, "<") || strings.HasSuffix(v, "UTC"):
			return "TIME" // as a card shows it, in its own precision
		case v[4] == '-':
			kind = "TIME"
		}
		if s.names[v] == "" {
			s.names[kind] += "|"
			s.names[v] = fmt.Sprintf("%s%d", kind, len(s.names[kind]))
		}
		return s.names[v]
	})
}

// party is a program at the WebSocket: an agent or a front end.
type party struct {
	*socket
	s                  *story
	name, token, hello string
}

// joins connects a party, which first sends hello unless that is empty.
func (s *story) joins(name, token, hello string) *party {
	s.T.Helper()
	p := &party{s: s, name: name, token: token, hello: hello}
	s.parties = append(s.parties, p)
	p.connects()
	return p
}

// connects connects the party, also again.
func (p *party) connects() {
	p.s.T.Helper()
	p.s.note(p.name, "connects", "")
	p.socket = dialSocket(p.s.T, p.s.URL, p.token)
	if p.hello != "" {
		p.says(p.hello)
	}
}

// leaves closes the party's connection.
func (p *party) leaves() {
	p.s.note(p.name, "disconnects", "")
	p.conn.CloseNow()
}

// says sends a frame.
func (p *party) says(frame string) {
	p.s.T.Helper()
	p.s.note(p.name, "sends", frame)
	p.send(frame)
}

// sees waits for a frame with all of words and returns it.
func (p *party) sees(words ...string) string {
	p.s.T.Helper()
	f := p.next(words...)
	p.s.note(p.name, "receives", f)
	return f
}

// shows waits until the card on every platform contains the words, and has
// controls or, if it is closed, none.
func (s *story) shows(a rig.Asked, closed bool, words ...string) {
	s.T.Helper()
	for _, service := range rig.Services {
		defer func() {
			if s.T.Failed() {
				s.T.Logf("the card on %s:\n%s", service, s.card(a, service))
			}
		}()
		s.Eventually(fmt.Sprintf("the card on %s shows %q", service, words), func() bool {
			text := a.Text(service)
			for _, w := range words {
				if !strings.Contains(text, w) {
					return false
				}
			}
			return (len(a.Controls(service)) == 0) == closed
		})
		s.note(service, "shows", "")
		s.text.WriteString(s.stable(s.card(a, service)))
	}
}

// card returns the text and the controls of a card, indented.
func (s *story) card(a rig.Asked, service string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(a.Text(service)), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString("    | " + line + "\n")
		}
	}
	for _, c := range a.Controls(service) {
		b.WriteString("    [" + c.Label + "]\n")
	}
	return b.String()
}

// does writes down what a person does on a platform, and does it.
func (s *story) does(who, service, what string, do func()) {
	s.note(who, "on "+service+":", what)
	do()
}

// restarts kills the daemon without a warning and starts it again. Every party
// loses its connection and connects again.
func (s *story) restarts() {
	s.T.Helper()
	s.note("the daemon", "is killed and starts again", "")
	s.Restart()
	for _, service := range rig.Services {
		s.ConnectedOn(service)
	}
	for _, p := range s.parties {
		p.connects()
	}
}

// loses makes every platform refuse nod's token.
func (s *story) loses() {
	s.T.Helper()
	s.note("every platform", "refuses", "the token of nod")
	s.Revoke(rig.Services...)
}

// ends compares the story with its golden file. Frames that no one expected
// fail the test.
func (s *story) ends() {
	s.T.Helper()
	for _, p := range s.parties {
		_ = p.conn.Ping(s.Ctx) // frames that were sent arrive before the answer; a party may have left
		for len(p.in) > 0 {
			if f, ok := <-p.in; ok {
				p.kept = append(p.kept, f)
			}
		}
		for _, f := range p.kept {
			s.T.Errorf("%s also received %s", p.name, s.stable(f))
		}
	}
	path := filepath.Join("testdata", "stories", s.name+".txt")
	got := strings.TrimLeft(s.text.String(), "\n")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.T.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			s.T.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.T.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		s.T.Errorf("the story differs from %s (-want +got); check it and run this test with -update:\n%s", path, d)
	}
}
