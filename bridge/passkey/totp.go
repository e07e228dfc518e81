package passkey

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238; authenticator apps have no other hash in common
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TOTP holds the secret for one-time codes (RFC 6238) of a person. Codes are
// weaker than passkeys: a person can be tricked into telling one, and a code is
// not bound to a request.
type TOTP struct {
	Person  string    `json:"person"`
	Sealed  []byte    `json:"sealed"` // the encrypted secret
	Step    int64     `json:"step"`   // the time step of the last code that was used
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`
	// Proof shows that a daemon stored the codes in this form.
	Proof string `json:"proof,omitempty"`
}

const (
	totpSecret = 20 // bytes, the size of the hash
	totpStep   = 30 // seconds
	totpDigits = 6
	totpWindow = 1 // accepted steps before and after the current one
)

// NewTOTPSecret returns a random secret.
func NewTOTPSecret() []byte { return random(totpSecret) }

// TOTPText returns a secret as people type it into an authenticator app.
func TOTPText(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// TOTPSecret decodes the text of a secret. It returns CodeInvalid for any other
// text.
func TOTPSecret(text string) ([]byte, error) {
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	if err != nil || len(raw) != totpSecret {
		return nil, bridge.Errorf(bridge.CodeInvalid, "secret: not a secret of nod")
	}
	return raw, nil
}

// TOTPURL returns the otpauth URL of a secret for authenticator apps.
func TOTPURL(person, host string, secret []byte) string {
	q := url.Values{"secret": {TOTPText(secret)}, "issuer": {siteName + " " + host}}
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + siteName + " " + host + ":" + person, RawQuery: q.Encode()}
	return u.String()
}

// Accept checks a code at a time. It returns the codes with the step of the
// code, which the caller must pass to [Store.UseTOTP]. It returns CodeForbidden
// for a wrong code, and for a code of a step that was used or is before one
// that was.
func (t TOTP) Accept(secret []byte, code string, now time.Time) (TOTP, error) {
	at := now.Unix() / totpStep
	for step := at - totpWindow; step <= at+totpWindow; step++ {
		if subtle.ConstantTimeCompare([]byte(TOTPCode(secret, step)), []byte(code)) != 1 {
			continue
		}
		if step <= t.Step {
			return TOTP{}, refuse("this one-time code was used already").
				WithHint("wait for the next code of your authenticator app")
		}
		t.Step, t.Used = step, now.UTC().Truncate(time.Second)
		return t, nil
	}
	return TOTP{}, refuse("the one-time code is wrong").
		WithHint("enter the current code of your authenticator app, and check the clock of the device")
}

// TOTPCode returns the code of a time step of 30 seconds since 1970.
func TOTPCode(secret []byte, step int64) string {
	h := hmac.New(sha1.New, secret)
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(step)) //nolint:gosec // steps are after 1970
	h.Write(at[:])
	sum := h.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	number := binary.BigEndian.Uint32(sum[offset:offset+4]) & 0x7fffffff
	return fmt.Sprintf("%0*d", totpDigits, number%1_000_000)
}
