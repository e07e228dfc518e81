package platformtest

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Call is a call of the service that an adapter makes.
type Call struct {
	// Method is the name of the call in faults.
	Method string
	// Make makes the adapter call the service, and returns the adapter's error.
	// If the adapter returns no error for this call, the contract ignores the
	// result of Make.
	Make   func() error
	Silent bool
	// Other maps some errors to a different meaning for this call than in the
	// table.
	Other map[platforms.About]platforms.About
}

// Answers makes the service respond to each call with each error of its table.
// It checks that the adapter gives the error the meaning in the table, that the
// platform stays up, and that its next call works.
func (r *Rig) Answers(calls []Call) {
	r.T.Helper()
	for _, call := range calls {
		for _, row := range r.Harness.Errors {
			for _, name := range row.Errors {
				if name != platforms.AnyOther {
					r.answers(call, row, name)
				}
			}
		}
	}
	r.Eventually("the platform is up after all", func() bool {
		h := r.Platform.Health()
		return h.State == bridge.HealthUp || strings.Contains(h.Reason, "another program")
	})
	r.logged.check(r.T)
}

// logLines collects the log of an adapter.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer: each call writes one line.
func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

var stateLogged = regexp.MustCompile(`platform is up|platform is not up.* state=(\S+)`)

// check checks that each change of the state has one line, and that no line
// contains a token.
func (l *logLines) check(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	last, changes := "", 0
	for _, line := range l.lines {
		for _, secret := range []string{sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.DiscordToken, sandbox.TelegramToken} {
			if strings.Contains(line, secret) {
				t.Errorf("the log has a token: %s", line)
			}
		}
		if state := stateLogged.FindStringSubmatch(line); state != nil {
			if state[1] == last && changes > 0 {
				t.Errorf("the log repeats the state %q: %s", last, line)
			}
			last, changes = state[1], changes+1
		}
	}
	if changes == 0 {
		t.Error("refusals of the token are not in the log")
	}
}

func (r *Rig) answers(call Call, row platforms.Row, name string) {
	r.T.Helper()
	r.Fault(sandbox.Fault{Kind: "error", Method: call.Method, Error: name, Count: 1})
	err := call.Make()
	r.Sandbox.ClearFaults()
	want := row.About
	if other, ok := call.Other[want]; ok {
		want = other
	}
	if got := platforms.AboutOf(err); !call.Silent && got != want && !(want == platforms.AboutNothing && got == "") {
		r.T.Errorf("%s answers %s: the error is about the %s, want %s: %v", call.Method, name, got, want, err)
	}
	if is := errors.Is(err, bridge.ErrRefused); !call.Silent && is != (want == platforms.AboutAccount) {
		r.T.Errorf("%s answers %s: the account is refused: %v", call.Method, name, is)
	}
	if health := r.Platform.Health(); health.State == bridge.HealthDown {
		r.T.Errorf("%s answers %s: health is %+v", call.Method, name, health)
	}
}

// runDocumented compares a table of errors with the section Errors of a page. With
// -update, it writes the section.
func runDocumented(t *testing.T, h Harness) {
	page := "../../docs/" + h.Name + ".md"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "## Errors\n"
	before, after, found := strings.Cut(string(raw), heading)
	if !found {
		t.Fatalf("%s has no section Errors", page)
	}
	_, rest, more := strings.Cut(after, "\n## ")
	want := before + heading + "\nWhat nod does about each error of the service, and what you do.\n\n" + h.Errors.Markdown()
	if more {
		want += "\n## " + rest
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(raw) {
		t.Errorf("%s does not have the table of errors; write it with go test -run TestContract/documented -update", page)
	}
}
