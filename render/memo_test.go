package render_test

import (
	"reflect"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestMemoIsNotChanged checks that what one caller does with parsed texts does
// not show to the next.
func TestMemoIsNotChanged(t *testing.T) {
	t.Parallel()
	const text = "Deploy *now*\n\nto **production**"
	first := render.Markdown(text)
	_ = append(first, render.Para("something else"))
	_ = append(first[0].Spans, render.Span{Text: "and more"})
	other := render.Markdown("Deploy *now*")
	if got := render.Markdown(text); !reflect.DeepEqual(got, first) || len(other) != 1 {
		t.Errorf("%+v, first %+v", got, first)
	}
	// The description is left out of the action, but not of later requests.
	said := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "Cleans up", Approval: &bridge.Approval{
		Tool: "Bash", Input: []byte(`{"command":"make clean","description":"Cleans up","cwd":"/srv"}`),
	}}}
	silent := said
	silent.Prompt = "Something else"
	want := render.ActionOf(silent)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_ = render.ActionOf(said)
			if got := render.ActionOf(silent); !reflect.DeepEqual(got.Rest, want.Rest) {
				t.Errorf("%+v, want %+v", got.Rest, want.Rest)
			}
		})
	}
	wg.Wait()
}
