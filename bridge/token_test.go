package bridge_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
)

func keyring(t testing.TB, fill string) bridge.Keyring {
	t.Helper()
	k, err := bridge.NewKeyring(bytes.Repeat([]byte(fill), bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func controls() *rapid.Generator[bridge.Control] {
	return rapid.Custom(func(t *rapid.T) bridge.Control {
		id, err := bridge.NewID()
		if err != nil {
			t.Fatal(err)
		}
		return bridge.Control{
			Interaction: id, Destination: rapid.IntRange(0, bridge.MaxDestinations-1).Draw(t, "destination"),
			Action: bridge.Action(rapid.IntRange(1, 7).Draw(t, "action")), Question: rapid.IntRange(0, bridge.MaxQuestions).Draw(t, "question"),
			Option: rapid.IntRange(0, bridge.MaxOptions-1).Draw(t, "option"),
		}
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	mine, theirs := keyring(t, "a"), keyring(t, "b")
	rapid.Check(t, func(t *rapid.T) {
		c := controls().Draw(t, "control")
		token := mine.Sign(c)
		if len(token) != bridge.TokenLength || len(token) > 64 {
			t.Fatalf("a token of %d bytes", len(token))
		}
		if got, err := mine.Verify(token); err != nil || got != c {
			t.Fatalf("got %+v, %v; want %+v", got, err, c)
		}
		if bridge.PeekAction(token) != c.Action || bridge.PeekOption(token) != c.Option || bridge.PeekQuestion(token) != c.Question {
			t.Fatal("peeking into the token returns another control")
		}
		if _, err := theirs.Verify(token); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Fatalf("another key accepts it: %v", err)
		}
		altered := []byte(token)
		n := rapid.IntRange(0, len(altered)-1).Draw(t, "where")
		altered[n] = rapid.SampledFrom([]byte("ABCXYZabcxyz0189-_=. ")).Filter(func(b byte) bool { return b != token[n] }).Draw(t, "what")
		if _, err := mine.Verify(string(altered)); err == nil {
			t.Fatalf("changed at %d: %s is accepted", n, altered)
		}
		if _, err := mine.Verify(token[:n]); err == nil {
			t.Fatal("a truncated token is accepted")
		}
	})
}

// TestTokenBytes checks that a token is the encoded body of its control with the
// HMAC of the body, even if many goroutines sign with one keyring.
func TestTokenBytes(t *testing.T) {
	t.Parallel()
	keys := keyring(t, "a")
	id := bridge.ID("01890a5d-ac96-774b-bcce-b302099a8057")
	raw, err := hex.DecodeString(strings.ReplaceAll(string(id), "-", ""))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for option := range 500 {
				body := slices.Concat([]byte{byte(bridge.ActionChoose)}, raw, []byte{2, byte(n), byte(option >> 8), byte(option), 7})
				h := hmac.New(sha256.New, bytes.Repeat([]byte("a"), bridge.MinKey))
				h.Write([]byte("nod control v1\x00"))
				h.Write(body)
				want := base64.RawURLEncoding.EncodeToString(append(body, h.Sum(nil)[:16]...))
				c := bridge.Control{Interaction: id, Destination: 2, Action: bridge.ActionChoose, Question: n, Option: option, Terms: 7}
				if got := keys.Sign(c); got != want {
					t.Errorf("%+v: %s, want %s", c, got, want)
				}
				if got, err := keys.Verify(want); err != nil || got != c {
					t.Errorf("got %+v, %v; want %+v", got, err, c)
				}
			}
		})
	}
	wg.Wait()
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	old, fresh := bytes.Repeat([]byte("o"), bridge.MinKey), bytes.Repeat([]byte("n"), bridge.MinKey)
	before := keyring(t, "o")
	both, err := bridge.NewKeyring(fresh, old)
	if err != nil {
		t.Fatal(err)
	}
	c := bridge.Control{Interaction: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Action: bridge.ActionChoose}
	if _, err := both.Verify(before.Sign(c)); err != nil {
		t.Error("a token made before the rotation is rejected")
	}
	if _, err := before.Verify(both.Sign(c)); err == nil {
		t.Error("the old key still signs")
	}
	if _, err := bridge.NewKeyring([]byte("short")); err == nil {
		t.Error("a short key is accepted")
	}
}

func FuzzVerify(f *testing.F) {
	k := keyring(f, "a")
	f.Add(k.Sign(bridge.Control{Interaction: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Action: 1}))
	f.Add("")
	signed := k.Sign(bridge.Control{Interaction: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Action: 2})
	f.Add(signed[:9] + "\n" + signed[9:]) // base64 decoders skip line breaks
	f.Add(signed + "\r")
	f.Fuzz(func(t *testing.T, token string) {
		c, err := k.Verify(token)
		if err == nil && k.Sign(c) != token {
			t.Errorf("%q is taken, but %q is what it should be", token, k.Sign(c))
		}
		bridge.PeekAction(token)
	})
}
