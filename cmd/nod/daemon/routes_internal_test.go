package daemon

import (
	"slices"
	"testing"

	"github.com/nodbridge/nod/config"
)

// TestRequired checks that a required group adds no one if the config lists a required
// person in it.
func TestRequired(t *testing.T) {
	t.Parallel()
	c := config.Config{Groups: map[string]config.Group{"sre": {People: []string{"ana", "bo"}}, "chat": {Native: map[string]string{"slack": "S1"}}}}
	for _, x := range []struct{ must, want []string }{
		{nil, nil}, {[]string{"@sre"}, []string{"@sre"}}, {[]string{"ana", "@sre"}, []string{"ana"}}, {[]string{"@sre", "ana"}, []string{"ana"}},
		{[]string{"cy", "@sre"}, []string{"cy", "@sre"}}, {[]string{"ana", "@chat"}, []string{"ana", "@chat"}},
	} {
		if got := required(c, x.must); !slices.Equal(got, x.want) {
			t.Errorf("%q: %q, want %q", x.must, got, x.want)
		}
	}
}
