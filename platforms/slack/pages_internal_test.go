package slack

import (
	"fmt"
	"testing"
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
