package discord_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// lister is a sink that answers a command with a list.
type lister struct {
	platformtest.Refusing
	mu    sync.Mutex
	lines []string
}

func (l *lister) set(lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = lines
}

// Command implements bridge.Sink.
func (l *lister) Command(context.Context, bridge.Command) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n"), nil
}

// TestLongList checks that a list which is too long for a message is shown in
// pages, complete, without a file, and that a page is clamped to the list as it
// is when the person clicks.
func TestLongList(t *testing.T) {
	t.Parallel()
	var lines []string
	for n := range 40 {
		lines = append(lines, fmt.Sprintf("row%02d: %s end%02d", n, strings.Repeat("*é* ", 100), n))
	}
	lines = append(lines, "last row: "+strings.Repeat("x", 9000)+" done")
	list := &lister{lines: lines}
	d := running(t, list)
	ana := d.Sandbox.Person("ana")
	d.Eventually("the command is registered", func() bool {
		r, err := ana.Command(t.Context(), "discord", sandbox.DiscordChannel, "/nod pending")
		return err == nil && r.OK
	})
	places := ana.PrivatePlaces("discord")
	if len(places) != 1 {
		t.Fatalf("the reply is %d messages", len(places))
	}
	at, all, pages := places[0], "", 1
	press := func(label string) {
		t.Helper()
		if r, err := ana.Press(t.Context(), at, label); err != nil || !r.OK {
			t.Fatalf("%s: %+v %v", label, r, err)
		}
	}
	for all = ana.Sees(at); strings.Contains(ana.Sees(at), "Next ("); pages++ {
		press("Next (")
		all += ana.Sees(at)
	}
	for n := range 40 {
		row, end := fmt.Sprintf("row%02d", n), fmt.Sprintf("end%02d", n)
		if strings.Count(all, row) != 1 || strings.Count(all, end) != 1 {
			t.Errorf("%s is shown %d times, its end %d times", row, strings.Count(all, row), strings.Count(all, end))
		}
	}
	if pages < 5 || strings.Count(all, "x") < 9000 || !strings.Contains(all, "done") || strings.Contains(all, "Shortened") {
		t.Errorf("%d pages, %d characters of the last row", pages, strings.Count(all, "x"))
	}
	press("Back")
	if got := ana.Sees(at); !strings.Contains(got, fmt.Sprintf("Next (%d of %d)", pages, pages)) {
		t.Errorf("the page before the last says %.300q", got)
	}
	list.set(lines[:1])
	press("Next (")
	if got := ana.Sees(at); !strings.Contains(got, "end00") || strings.Contains(got, "Next (") || strings.Contains(got, "Back") {
		t.Errorf("after the list became short, the page says %.300q", got)
	}
	if n := len(ana.PrivatePlaces("discord")); n != 1 {
		t.Errorf("the person has %d messages", n)
	}
}
