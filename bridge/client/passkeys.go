package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// Passkeys lists the passkeys of the person, or of all people for auditors and
// administrators.
func (c *Client) Passkeys(ctx context.Context) ([]passkey.Listed, error) {
	var out struct {
		Items []passkey.Listed `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/passkeys", nil, nil, &out)
	return out.Items, err
}

// Invitation lets a person add one passkey.
type Invitation struct {
	Person  string    `json:"person"`
	URL     string    `json:"url"` // secret
	Expires time.Time `json:"expires"`
}

// Invite creates an invitation for a person. The token of the client must
// belong to an administrator.
func (c *Client) Invite(ctx context.Context, person string) (Invitation, error) {
	var out Invitation
	err := c.do(ctx, http.MethodPost, "/v1/passkeys/invitations", nil, map[string]any{"person": person}, &out)
	return out, err
}

// RevokePasskey revokes a passkey, given by its ID.
func (c *Client) RevokePasskey(ctx context.Context, person, id string) error {
	path := "/v1/passkeys/" + url.PathEscape(person) + "/" + url.PathEscape(id)
	return c.do(ctx, http.MethodDelete, path, nil, nil, nil)
}

// PasskeyKeys returns the public keys of people. It returns nil if the daemon
// has no passkeys, and if the client has no valid token.
func (c *Client) PasskeyKeys(ctx context.Context) (*passkey.Keys, error) {
	var out passkey.Keys
	err := c.do(ctx, http.MethodGet, "/v1/passkeys/keys", nil, nil, &out)
	switch bridge.ErrorCode(err) {
	case "":
		return &out, nil
	case bridge.CodeUnauthenticated, bridge.CodeUnsupported, bridge.CodeNotFound:
		return nil, nil //nolint:nilnil // documented above
	}
	return nil, err
}
