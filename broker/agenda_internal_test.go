package broker

import (
	"slices"
	"testing"
	"time"
)

// TestAgenda checks that a busy process looks at every partition only once in
// lookEvery, and that no job is forgotten between two looks.
func TestAgenda(t *testing.T) {
	t.Parallel()
	var a agenda
	now := time.Now()
	if _, ok := a.take(now); ok {
		t.Error("the first claim did not look at every partition")
	}
	a.look(now)
	if got := a.rest(now, time.Second); got != time.Second {
		t.Errorf("an idle process rests for %s", got)
	}
	a.add(3)
	a.add(5)
	a.add(3)
	if a.rest(now, time.Second) != 0 {
		t.Error("rests in spite of a new job")
	}
	if got, ok := a.take(now.Add(time.Millisecond)); !ok || !slices.Equal(got, []int{3, 5}) {
		t.Errorf("took %v, %v", got, ok)
	}
	// A job of another process may have come with them.
	if got := a.rest(now.Add(time.Millisecond), time.Second); got != lookEvery-time.Millisecond {
		t.Errorf("rests for %s after a claim", got)
	}
	a.add(7)
	if got, ok := a.take(now.Add(lookEvery)); ok {
		t.Errorf("took %v without a look at every partition", got)
	}
	later := now.Add(lookEvery)
	a.look(later)
	a.expect(later.Add(300 * time.Millisecond))
	a.expect(later.Add(400 * time.Millisecond))
	if got := a.rest(later, time.Second); got != 300*time.Millisecond {
		t.Errorf("rests for %s until the next job", got)
	}
}
