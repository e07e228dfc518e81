package daemon

import (
	"testing"

	"github.com/nodbridge/nod/config"
)

// TestHostsWithPort checks that hosts means names, with or without a port.
func TestHostsWithPort(t *testing.T) {
	t.Parallel()
	h := HostsOf(config.Config{Hosts: []string{"nod.example.com:8787", "Other.example.", "*.lan:80"}})
	for host, want := range map[string]bool{
		"nod.example.com:8787": true, "nod.example.com": true, "NOD.example.com.:443": true, "other.example": true, "a.lan": true,
		"evil.example": false, "nod.example.com.evil.example": false,
	} {
		if h.allow(host) != want {
			t.Errorf("%s: %t, want %t", host, !want, want)
		}
	}
}
