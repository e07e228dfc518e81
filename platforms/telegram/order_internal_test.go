package telegram

import (
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestOrder checks that a card does not show an older change after a newer one, in
// whatever order their drawings begin.
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ begin, want []int }{
		"in order":              {[]int{0, 1, 2}, []int{2}},
		"the newest first":      {[]int{2, 0, 1}, []int{2}},
		"the newest in between": {[]int{1, 2, 0}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p poster
			var drawings []drawing
			for range 3 {
				_, draw, err := p.inOrder(bridge.MessageRef{Channel: "c", Message: "m"}, func() (bridge.Verdict, error) { return bridge.Verdict{}, nil })
				if err != nil {
					t.Fatal(err)
				}
				drawings = append(drawings, draw)
			}
			var got []int
			for _, n := range c.begin {
				if err := drawings[n](func() error { got = append(got, n); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("drew %d, want %d", got, c.want)
			}
		})
	}
}
