package setup

import (
	"os"
	"testing"
)

// TestIsProgram checks by which names nod recognizes its own entries in the settings of
// agents, so that another run and --undo find them.
func TestIsProgram(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"nod": true, "/usr/bin/nod": true, `nod.exe`: true, "/opt/nod-0.1.0": true, "nod2": true,
		os.Args[0]: true, // the program that runs
		"nodejs":   false, "/usr/bin/node": false, "node20": false, "": false,
	} {
		if got := isProgram(path); got != want {
			t.Errorf("isProgram(%q) is %t, want %t", path, got, want)
		}
	}
}
