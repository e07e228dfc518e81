package programs_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
)

// TestWrite starts programs immediately after they were written, while other
// processes start. With os.WriteFile about 3 of 100 fail.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir, done := t.TempDir(), make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.Command("true").Run() // only its start matters
				}
			}
		})
	}
	for n := range level.Often(500, 100) {
		path := filepath.Join(dir, "bin", fmt.Sprint(n))
		programs.Write(t, path, "#!/bin/sh\nexit 0\n")
		if err := exec.Command(path).Run(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	others.Wait()
}
