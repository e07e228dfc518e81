package redact

import (
	"regexp"
	"testing"
)

// TestShapes checks that the expressions of all formats are valid.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, c := range shapes {
		if _, err := regexp.Compile(c.pattern); err != nil {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
}
