package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

const (
	maxGuesses = 5
	guessTime  = 5 * time.Minute
)

// totpName is the name of the secret of a person for encryption.
func totpName(person string) string { return "totp " + person }

// HasCodes reports whether a person has one-time codes.
func (ps *Passkeys) HasCodes(ctx context.Context, person string) (bool, error) {
	if err := ps.Ready(); err != nil {
		return false, err
	}
	t, err := ps.Store.TOTP(ctx, person)
	return len(t.Sealed) > 0 && ps.prover.AcceptsTOTP(t), err
}

// UseCode checks a one-time code of a person. Each code counts once. It returns
// CodeForbidden for a wrong or used code, and for a person without codes.
func (ps *Passkeys) UseCode(ctx context.Context, person, code string) error {
	if err := ps.Ready(); err != nil {
		return err
	}
	t, err := ps.Store.TOTP(ctx, person)
	if err != nil {
		return err
	}
	if len(t.Sealed) == 0 || t.Person != person || !ps.prover.AcceptsTOTP(t) || ps.signer == nil {
		return bridge.Errorf(bridge.CodeForbidden, "%s has no one-time codes", person)
	}
	secret, err := ps.signer.Decrypt(totpName(person), t.Sealed)
	if err != nil {
		return err
	}
	if err := ps.mayGuess(ctx, person); err != nil {
		return err
	}
	if t, err = t.Accept(secret, code, time.Now()); err != nil {
		return err
	}
	ps.prover.ProveTOTP(&t)
	return ps.Store.UseTOTP(ctx, t)
}

// mayGuess returns CodeRateLimited after maxGuesses attempts of a person to
// enter a code in guessTime.
func (ps *Passkeys) mayGuess(ctx context.Context, person string) error {
	window := strconv.FormatInt(time.Now().Unix()/int64(guessTime.Seconds()), 10)
	for n := range maxGuesses {
		first, err := claim(ctx, ps.notes, "totp guess:"+person+"/"+window+"/"+strconv.Itoa(n), guessTime)
		if err != nil || first {
			return err
		}
	}
	e := bridge.Errorf(bridge.CodeRateLimited, "too many one-time codes were entered; try again in %s", guessTime)
	e.RetryAfter = guessTime
	return e
}

// NewCodes returns a secret for one-time codes, as text and as an otpauth URL.
// Nothing is stored until [Passkeys.AddCodes].
func (ps *Passkeys) NewCodes(person string) (secret, url string, err error) {
	if err := ps.Ready(); err != nil {
		return "", "", err
	}
	raw := passkey.NewTOTPSecret()
	return passkey.TOTPText(raw), passkey.TOTPURL(person, ps.Site.RPID(), raw), nil
}

// AddCodes stores a secret of [Passkeys.NewCodes] if the code fits. The code
// counts as used. It replaces earlier codes.
func (ps *Passkeys) AddCodes(ctx context.Context, person, text, code string) error {
	if err := ps.Ready(); err != nil {
		return err
	}
	secret, err := passkey.TOTPSecret(text)
	if err != nil {
		return err
	}
	t, err := passkey.TOTP{Person: person, Created: now()}.Accept(secret, code, time.Now())
	if err != nil {
		return err
	}
	if ps.signer == nil {
		return bridge.Errorf(bridge.CodeUnsupported, "one-time codes need a signing key")
	}
	if t.Sealed, err = ps.signer.Encrypt(totpName(person), secret); err != nil {
		return err
	}
	ps.prover.ProveTOTP(&t)
	if err := ps.audit(ctx, bridge.PasskeyChange{Action: "totp_added", Person: person, By: person}); err != nil {
		return err
	}
	return ps.Store.PutTOTP(ctx, t)
}

// RemoveCodes removes the one-time codes of a person. People remove their own,
// and administrators any.
func (ps *Passkeys) RemoveCodes(ctx context.Context, by, person string) error {
	if err := ps.Ready(); err != nil {
		return err
	}
	if by != person && !ps.Administers(by) {
		return bridge.Errorf(bridge.CodeForbidden, "only administrators can remove the codes of another person")
	}
	if err := ps.audit(ctx, bridge.PasskeyChange{Action: "totp_removed", Person: person, By: by}); err != nil {
		return err
	}
	return ps.Store.DropTOTP(ctx, person)
}
