package daemon_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
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
	id, err := chromedp.Run(ctx, func(ctx context.Context, target *chromedp.Target) (webauthn.AuthenticatorID, error) {
		if _, err := cdp.Call(ctx, target, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return "", err
		}
		got, err := cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
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

// unplug removes a virtual authenticator, so that the next one is another
// device.
func unplug(id webauthn.AuthenticatorID) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: id})
		return err
	})
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
	return chromedp.WaitVisible(`//main//*[contains(text(), "` + text + `")]`)
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
	drive(t, ctx, "no user verification", verifies(first, false), chromedp.SendKeys("#label", "Phone\n"),
		chromedp.WaitVisible(`//div[@id="said"][contains(., "did not create a passkey")]`))
	drive(t, ctx, "add it", verifies(first, true), chromedp.Click(`//main//button[contains(., "Add passkey")]`),
		onPage("Your passkey was added"))
	drive(t, ctx, "the link again", chromedp.Navigate("about:blank"), chromedp.Navigate(invited.URL), onPage("used or expired"))

	drive(t, ctx, "sign in", chromedp.Navigate("about:blank"), chromedp.Navigate(r.Config.Console.URL+"/console/#/passkeys"),
		chromedp.SendKeys("#token", rig.AnaToken+"\n"), onPage("Phone"))
	drive(t, ctx, "the same device", chromedp.SendKeys("#label", "Phone again\n"),
		chromedp.WaitVisible(`//div[@id="said"][contains(., "has a passkey for you already")]`))
	drive(t, ctx, "another device", unplug(first))
	authenticator(t, ctx)
	drive(t, ctx, "add another", script(`document.getElementById("label").value = ""`), chromedp.SendKeys("#label", "Laptop\n"), onPage("Laptop"))
	axe(t, ctx, "passkeys")
	screenshot(t, ctx, "passkeys")
	drive(t, ctx, "revoke", chromedp.Click(`button[aria-label="Revoke Phone"]`), onPage("revoked"))
	drive(t, ctx, "the last one", chromedp.Click(`button[aria-label="Revoke Laptop"]`),
		chromedp.WaitVisible(`//div[@id="said"][contains(., "only an administrator")]`))

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
