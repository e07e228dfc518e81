package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientsPlayTable lets the clients for Python and TypeScript play the table
// that the Go client plays as well. Node.js reads TypeScript since version 22.18;
// with an older one, make conformance plays it.
func TestClientsPlayTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program, dir string
		args, env    []string
	}{
		"python": {"python3", "clients/python", []string{"-m", "unittest", "test_cases"},
			[]string{"PYTHONPATH=src" + string(os.PathListSeparator) + "tests", "PYTHONDONTWRITEBYTECODE=1"}},
		"typescript": {"node", "clients/typescript", []string{"--test", "test/cases.test.mjs"}, []string{"NOD_CLIENT=../src/index.ts"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Skip(c.program + " is not installed")
			}
			if name == "typescript" {
				out, err := exec.Command(program, "-p", "process.features.typescript || ''").Output()
				if err != nil || strings.TrimSpace(string(out)) == "" {
					t.Skip("this Node.js does not read TypeScript")
				}
			}
			cmd := exec.Command(program, c.args...)
			cmd.Dir, cmd.Env = filepath.FromSlash(c.dir), append(os.Environ(), c.env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
