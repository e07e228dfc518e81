package daemon

import "testing"

// TestConnectionsWithin checks that a daemon keeps files for itself, whatever the
// limit is: without one, it accepts no connection.
func TestConnectionsWithin(t *testing.T) {
	t.Parallel()
	for files, want := range map[int]int{64: 32, 256: 128, 512: 256, 1024: 768, 65536: 65280} {
		if n := connectionsWithin(files); n != want {
			t.Errorf("%d of %d files are for connections, want %d", n, files, want)
		}
	}
}
