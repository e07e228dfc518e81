package daemon_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// withPasskeys turns on the console at a URL that browsers accept for passkeys.
// bo is an administrator.
func withPasskeys(c *config.Config) {
	withConsole(c)
	_, port, _ := net.SplitHostPort(c.Listen) // of a listener
	c.Console.URL = "http://localhost:" + port
	bo := c.People["bo"]
	bo.Administrator = true
	c.People["bo"] = bo
}

// authenticator adds a virtual authenticator to the browser.
func authenticator(t *testing.T, ctx context.Context) webauthn.AuthenticatorID {
	t.Helper()
	return plugged(t, ctx, webauthn.AuthenticatorTransportInternal)
}

// plugged adds a virtual authenticator of a kind: a browser has one of its own, and
// keys that are plugged in.
func plugged(t *testing.T, ctx context.Context, transport webauthn.AuthenticatorTransport) webauthn.AuthenticatorID {
	t.Helper()
	id, err := chromedp.Run(ctx, func(ctx context.Context, target *chromedp.Target) (webauthn.AuthenticatorID, error) {
		if _, err := cdp.Call(ctx, target, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return "", err
		}
		got, err := cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: transport,
				HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
			},
		})
		return got.AuthenticatorID, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// verifies sets whether a virtual authenticator verifies the person.
func verifies(id webauthn.AuthenticatorID, yes bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: yes})
		return err
	})
}

// onPage waits for an element of the page with a text.
func onPage(text string) chromedp.Action[chromedp.Void] {
	return browsing.Seen(`//main//*[contains(text(), "` + text + `")]`)
}

// TestAddPasskey checks that a person adds a passkey with an invitation and
// another one after signing in, in a browser, and revokes one.
func TestAddPasskey(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: withPasskeys})
	bo := client.New(r.Daemons[0].URL, rig.BoToken, nil)
	invited, err := bo.Invite(t.Context(), "ana")
	if err != nil {
		t.Fatal(err)
	}
	first := authenticator(t, ctx)
	drive(t, ctx, "a phone", chromedp.EmulateViewport(390, 844))
	drive(t, ctx, "open the invitation", chromedp.Navigate(invited.URL), onPage("ana"))
	axe(t, ctx, "invitation")
	screenshot(t, ctx, "passkey-invitation")
	drive(t, ctx, "no user verification", verifies(first, false), browsing.Type("#label", "Phone\n"),
		browsing.Seen(`//div[@id="said"][contains(., "did not create a passkey")]`))
	drive(t, ctx, "add it", verifies(first, true), browsing.Click(`//main//button[contains(., "Add passkey")]`),
		onPage("Your passkey was added"))
	drive(t, ctx, "the link again", chromedp.Navigate("about:blank"), chromedp.Navigate(invited.URL), onPage("used or expired"))

	drive(t, ctx, "sign in", chromedp.Navigate("about:blank"), chromedp.Navigate(r.Config.Console.URL+"/console/#/passkeys"),
		browsing.Type("#token", rig.AnaToken+"\n"), onPage("Phone"))
	drive(t, ctx, "the same device", browsing.Type("#label", "Phone again\n"),
		browsing.Seen(`//div[@id="said"][contains(., "has a passkey for you already")]`))
	plugged(t, ctx, webauthn.AuthenticatorTransportUsb)
	drive(t, ctx, "add another, confirmed with the first", script(`document.getElementById("label").value = ""`), browsing.Type("#label", "Laptop\n"), onPage("Laptop"))
	axe(t, ctx, "passkeys")
	screenshot(t, ctx, "passkeys")
	drive(t, ctx, "revoke", browsing.Click(`button[aria-label="Revoke Phone"]`), onPage("revoked"))
	drive(t, ctx, "the last one", browsing.Click(`button[aria-label="Revoke Laptop"]`),
		browsing.Seen(`//div[@id="said"][contains(., "only an administrator")]`))

	mine, err := r.Person.Passkeys(t.Context())
	if err != nil || len(mine) != 2 || mine[0].Label != "Phone" || mine[0].Revoked.IsZero() || !mine[1].Revoked.IsZero() {
		t.Errorf("the passkeys are %+v, %v", mine, err)
	}
	if _, err := r.Person.Invite(t.Context(), "ana"); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("ana invites: %v", err)
	}
	keys, err := r.Person.PasskeyKeys(t.Context())
	if err != nil || keys == nil || len(keys.Keys) != 2 || keys.RPID != "localhost" || !strings.HasPrefix(keys.Origins[0], "http://localhost:") {
		t.Errorf("the public keys are %+v, %v", keys, err)
	}
}

// verifiedOffline checks with public keys only that ana's passkey signed the
// decision of a record, and that every changed byte of the signed fields is
// noticed, by nod and by the verifier in JavaScript.
func verifiedOffline(t *testing.T, r *rig.Rig, rec bridge.Record) {
	t.Helper()
	keys, receipt := r.Receipt(rec)
	people, err := r.Agent.PasskeyKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.SignedBy(receipt); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("without the keys of people: %v", err)
	}
	keys.Passkeys = people
	if who, err := keys.SignedBy(receipt); err != nil || !slices.Equal(who, []string{"ana"}) {
		t.Errorf("signed by %q, %v", who, err)
	}
	raw, err := json.Marshal(receipt.Assertion)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		flipped, forged := slices.Clone(raw), receipt
		flipped[n] ^= 1
		forged.Assertion = &bridge.Assertion{}
		if json.Unmarshal(flipped, forged.Assertion) != nil || *forged.Assertion == *receipt.Assertion {
			continue
		}
		if _, err := keys.SignedBy(forged); err == nil {
			t.Errorf("byte %d of %s is not noticed", n, flipped)
		}
	}
	for name, change := range map[string]func(*proof.Receipt){
		"request": func(r *proof.Receipt) { r.ID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04" },
		"digest":  func(r *proof.Receipt) { r.Digest = strings.Repeat("ab", 32) },
		"edit":    func(r *proof.Receipt) { r.ApprovedDigest = strings.Repeat("ab", 32) },
		"scope":   func(r *proof.Receipt) { r.Scope = bridge.ScopeAlways },
		"state":   func(r *proof.Receipt) { r.State = bridge.StateDenied },
		"person":  func(r *proof.Receipt) { r.Actor = &bridge.Actor{Person: "bo"} },
		"missing": func(r *proof.Receipt) { r.Assertion = nil },
		"claim":   func(r *proof.Receipt) { r.Assurance = "" },
	} {
		forged := receipt
		change(&forged)
		if _, err := keys.SignedBy(forged); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("another %s: %v", name, err)
		}
	}
	otherVerifier(t, keys, rec)
	if dir := os.Getenv("NOD_PASSKEY_CASES"); dir != "" { // for the verifier of others
		one := []any{map[string]any{"name": "Chromium", "good": true, "keys": people, "assertion": receipt.Assertion}}
		raw, err := json.Marshal(one)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, string(rec.Interaction.ID)+".json"), raw, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// otherVerifier checks a record with the verifier in JavaScript.
func otherVerifier(t *testing.T, keys proof.JWKS, rec bridge.Record) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return // without Node.js, the other tests count
	}
	dir := t.TempDir()
	write := func(name string, v any) string {
		raw, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	keysPath := write("keys.json", keys)
	out, err := exec.Command(node, "../../../deploy/verify/receipt.mjs", keysPath, write("record.json", rec)).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "by the passkey of ana") {
		t.Errorf("the verifier in JavaScript: %v\n%s", err, out)
	}
	at := len(rec.Receipt) - 40 // in the signature
	other := "A"
	if rec.Receipt[at:at+1] == other {
		other = "B"
	}
	rec.Receipt = rec.Receipt[:at] + other + rec.Receipt[at+1:]
	if out, err := exec.Command(node, "../../../deploy/verify/receipt.mjs", keysPath, write("forged.json", rec)).CombinedOutput(); err == nil {
		t.Errorf("the verifier in JavaScript accepts a changed receipt: %s", out)
	}
}
