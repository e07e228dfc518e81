package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
)

// freshFor is the time after a sign-in in which a person can add a key. A
// browser that was left open is not enough.
const freshFor = 5 * time.Minute

// passkeyRoutes registers the calls about keys.
func (c *Console) passkeyRoutes() {
	c.mux.HandleFunc("GET /console/passkeys", c.person(c.passkeys))
	c.mux.HandleFunc("POST /console/passkeys", c.enrolls(c.addPasskey))
	c.mux.HandleFunc("POST /console/passkeys/options", c.enrolls(c.passkeyOptions))
	c.mux.HandleFunc("POST /console/passkeys/invited", c.enrolls(c.invited))
	c.mux.HandleFunc("POST /console/passkeys/revoke", c.person(c.revokePasskey))
}

// fresh returns CodeForbidden unless the person of a request has signed in
// recently.
func (c *Console) fresh(r *http.Request) error {
	x, ok := c.sessions.signed(r)
	started := time.Unix(x.Expires, 0).Add(-sessionLife)
	if !ok || time.Since(started) > freshFor {
		return bridge.Errorf(bridge.CodeForbidden, "you signed in more than %d minutes ago", int(freshFor.Minutes())).
			WithHint("sign out, sign in again, and try again")
	}
	return nil
}

// passkeys lists the keys of the person.
func (c *Console) passkeys(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	out := map[string]any{"available": true, "items": []passkey.Listed{}}
	if err := c.engine.Passkeys.Ready(); err != nil {
		out["available"], out["problem"] = false, bridge.PublicError(err)
		return out, nil
	}
	mine, err := c.engine.Passkeys.Of(r.Context(), actor.Person)
	if err != nil {
		return nil, err
	}
	out["items"], out["fresh"] = passkey.List(mine), c.fresh(r) == nil
	out["site"] = c.engine.Passkeys.Site.RPID()
	return out, nil
}

// revokePasskey revokes a key of the person.
func (c *Console) revokePasskey(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	var in struct {
		ID string `json:"id"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return map[string]any{}, c.engine.Passkeys.Revoke(r.Context(), actor.Person, actor.Person, in.ID)
}

// enrollment is a call that adds a key. Without an invitation, it requires a
// fresh sign-in.
type enrollment struct {
	Invitation string          `json:"invitation,omitempty"`
	Label      string          `json:"label,omitempty"`
	Challenge  string          `json:"challenge,omitempty"`
	Response   json.RawMessage `json:"response,omitempty"`
	Proof      json.RawMessage `json:"proof,omitempty"` // of an existing key
}

// enrolls returns a handler of a call that adds a key. The handler determines
// who the person is.
func (c *Console) enrolls(h func(r *http.Request, in enrollment, person string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in enrollment
		out, err := any(nil), read(r, &in)
		if err == nil {
			if made, again := c.engine.Passkeys.Added(r.Context(), in.Challenge, in.Response); again {
				write(w, http.StatusOK, passkey.List([]passkey.Credential{made})[0])
				return
			}
			var person string
			if person, err = c.enrolling(r, in); err == nil {
				out, err = h(r, in, person)
			}
		}
		if err != nil {
			c.log.Warn("passkey refused", "from", r.RemoteAddr, "error", err)
			fail(w, err)
			return
		}
		write(w, http.StatusOK, out)
	}
}

// enrolling returns the person who adds a key.
func (c *Console) enrolling(r *http.Request, in enrollment) (string, error) {
	if in.Invitation != "" {
		person, _, err := c.engine.Passkeys.Invited(r.Context(), in.Invitation)
		return person, c.guessed(r, err)
	}
	p, err := c.sessions.of(r)
	if err != nil {
		return "", err
	}
	return p.Person, c.fresh(r)
}

// invited shows an invitation and changes nothing.
func (c *Console) invited(r *http.Request, _ enrollment, person string) (any, error) {
	mine, err := c.engine.Passkeys.Of(r.Context(), person)
	return map[string]any{"person": person, "keys": len(mine), "site": c.engine.Passkeys.Site.RPID()}, err
}

// passkeyOptions returns the options with which the browser creates a key.
func (c *Console) passkeyOptions(r *http.Request, in enrollment, person string) (any, error) {
	options, err := c.engine.Passkeys.Begin(r.Context(), person)
	if err != nil || in.Invitation != "" {
		return map[string]any{"create": json.RawMessage(options)}, err
	}
	confirm, err := c.engine.Passkeys.Confirm(r.Context(), person, options)
	return map[string]any{"create": json.RawMessage(options), "confirm": json.RawMessage(cmp.Or(string(confirm), "null"))}, err
}

// addPasskey adds the key that the browser created.
func (c *Console) addPasskey(r *http.Request, in enrollment, person string) (any, error) {
	made, err := c.engine.Passkeys.Enroll(r.Context(), passkeys.Enrollment{
		Person: person, Invitation: in.Invitation, Label: in.Label, Challenge: in.Challenge, Response: in.Response, Proof: in.Proof,
	})
	if err != nil {
		return nil, err
	}
	return passkey.List([]passkey.Credential{made})[0], nil
}
