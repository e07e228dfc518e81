package slack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestPages checks that only so many Home tabs are kept up to date, and that a
// tab is published only if it shows something new.
func TestPages(t *testing.T) {
	t.Parallel()
	p := newPages()
	for n := range homeMost + 5 {
		p.use(fmt.Sprint(n), "")
	}
	if n := len(p.users()); n != homeMost {
		t.Errorf("%d tabs are open", n)
	}
	p.use("ana", "Done.")
	if !p.sees("ana", "one") || p.sees("ana", "one") || !p.sees("ana", "two") {
		t.Error("a tab is published without a change, or not after one")
	}
	if p.noteTo("ana") != "Done." || p.noteTo("bo") != "" {
		t.Error("the note is lost")
	}
	p.sees("nobody", "one")
	if n := len(p.users()); n != homeMost {
		t.Errorf("%d tabs are open", n)
	}
	p.changed()
	if !p.takeChange() || p.takeChange() {
		t.Error("a change counts twice, or not at all")
	}
}

// TestPagesKeepOrder checks that no request on a Home tab moves because of another one
// while the tab is open, and that those that end first come first once it is opened.
func TestPagesKeepOrder(t *testing.T) {
	t.Parallel()
	p := newPages()
	shows := func(ids, want string) {
		t.Helper()
		var all []bridge.Waiting
		for id := range strings.FieldsSeq(ids) {
			all = append(all, bridge.Waiting{View: bridge.View{Record: bridge.Record{Interaction: bridge.Interaction{ID: bridge.ID(id)}}}})
		}
		var got []string
		for _, w := range p.arranged("ana", all) {
			got = append(got, string(w.View.Record.Interaction.ID))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("of %q, the tab shows %q; want %q", ids, s, want)
		}
	}
	shows("b a", "b a") // not open
	p.use("ana", "")
	shows("a b", "a b")
	shows("soon a b", "a b soon")
	shows("sooner soon b", "b soon sooner")
	p.use("ana", "Done.")
	shows("sooner soon b", "b soon sooner")
	p.use("ana", "")
	shows("sooner soon b", "sooner soon b")
}
