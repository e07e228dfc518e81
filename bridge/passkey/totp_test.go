package passkey_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// TestTOTPCode compares with the test values of RFC 6238, appendix B, of which
// nod uses the last six digits.
func TestTOTPCode(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for at, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
	} {
		if got := passkey.TOTPCode(secret, at/30); got != want {
			t.Errorf("%d: %s, want %s", at, got, want)
		}
	}
}

// TestTOTPOnce checks that a code counts once, one step early and late, and not
// before a later one.
func TestTOTPOnce(t *testing.T) {
	t.Parallel()
	secret, now := passkey.NewTOTPSecret(), time.Unix(1_800_000_000, 0)
	step := now.Unix() / 30
	for off, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		_, err := passkey.TOTP{}.Accept(secret, passkey.TOTPCode(secret, step+off), now)
		if (err == nil) != want {
			t.Errorf("%+d: %v", off, err)
		}
	}
	used, err := passkey.TOTP{}.Accept(secret, passkey.TOTPCode(secret, step), now)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, -1} {
		if _, err := used.Accept(secret, passkey.TOTPCode(secret, step+off), now); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("%+d after it was used: %v", off, err)
		}
	}
	for _, code := range []string{"", "00000", passkey.TOTPCode(secret, step) + "0"} {
		if _, err := (passkey.TOTP{}).Accept(secret, code, now); err == nil {
			t.Errorf("%q is accepted", code)
		}
	}
}
