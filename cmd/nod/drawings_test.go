package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestDrawings checks that each drawing is up to date with its source. Drawing
// requires npm; the check does not.
func TestDrawings(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("../../docs/drawings/*.dot")
	if err != nil || len(sources) == 0 {
		t.Fatal("no drawings", err)
	}
	for _, source := range sources {
		sum := sha256.Sum256([]byte(rig.ReadFile(t, source)))
		svg := strings.TrimSuffix(source, ".dot") + ".svg"
		if !strings.Contains(rig.ReadFile(t, svg), hex.EncodeToString(sum[:])) {
			t.Errorf("%s is out of date; run make drawings", svg)
		}
	}
}
