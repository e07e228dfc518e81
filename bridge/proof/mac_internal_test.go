package proof

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"testing"
)

// TestMAC checks that a MAC covers exactly the framed text, and that a used hash
// state leaves nothing behind.
func TestMAC(t *testing.T) {
	t.Parallel()
	k := newMACKey([]byte("key"))
	for range 2 {
		for _, parts := range [][][]byte{nil, {nil}, {[]byte("a")}, {[]byte("ab"), nil, []byte("c")}, {bytes.Repeat([]byte("x"), 70_000)}} {
			h := hmac.New(sha256.New, []byte("key"))
			h.Write(framed("domain", parts...))
			if got := k.of("domain", parts...); !bytes.Equal(got, h.Sum(nil)) {
				t.Errorf("%d parts: %x", len(parts), got)
			}
		}
	}
}
