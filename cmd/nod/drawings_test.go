package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
)

// TestDrawings checks that each drawing was made from the current text of its
// source. Making them needs npm; checking does not.
func TestDrawings(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("../../docs/drawings/*.dot")
	if err != nil || len(sources) == 0 {
		t.Fatal("no drawings", err)
	}
	for _, source := range sources {
		sum := sha256.Sum256([]byte(readFile(t, source)))
		svg := strings.TrimSuffix(source, ".dot") + ".svg"
		if !strings.Contains(readFile(t, svg), hex.EncodeToString(sum[:])) {
			t.Errorf("%s is out of date; run make drawings", svg)
		}
	}
}
