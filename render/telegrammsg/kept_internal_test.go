package telegrammsg

import "testing"

// TestKept checks that no mark of a text gets lost in Telegram, which drops some.
func TestKept(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"A\u030angstro\u0308m a\u030a": "Ångstro\u0308m å", "x\u030a": "x˚", "\u030aA": "˚A", "1\u0333 2\u033f": "1‗ 2‾", "plain": "plain",
	} {
		w := &writer{}
		w.add(in, "bold")
		if got, entities := w.result(); got != want || entities[0].Length != len([]rune(want)) {
			t.Errorf("%q is %q with %+v, want %q", in, got, entities, want)
		}
	}
}
