package client

import (
	"context"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// Passkeys lists the passkeys of the person, or of all people for auditors and
// administrators.
func (c *Client) Passkeys(ctx context.Context) ([]passkey.Listed, error) {
	return items[passkey.Listed](ctx, c, call{method: http.MethodGet, path: at("passkeys")})
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
	body := map[string]string{"person": person}
	return result[Invitation](ctx, c, call{method: http.MethodPost, path: at("passkeys", "invitations"), body: body})
}

// RevokePasskey revokes a passkey, given by its ID.
func (c *Client) RevokePasskey(ctx context.Context, person, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: at("passkeys", person, id)}, nil)
}

// PasskeyKeys returns the public keys of people. It returns nil if the daemon
// has no passkeys, or if the client has no valid token.
func (c *Client) PasskeyKeys(ctx context.Context) (*passkey.Keys, error) {
	out, err := result[passkey.Keys](ctx, c, call{method: http.MethodGet, path: at("passkeys", "keys")})
	switch bridge.ErrorCode(err) {
	case "":
		return &out, nil
	case bridge.CodeUnauthenticated, bridge.CodeUnsupported, bridge.CodeNotFound:
		return nil, nil //nolint:nilnil // documented above
	}
	return nil, err
}

// Link links the account that received a code to the person who owns the
// client's token, and returns a description of the result. If confirm is false,
// it returns a preview and links nothing.
func (c *Client) Link(ctx context.Context, code string, confirm bool) (string, error) {
	out, err := result[struct {
		Said string `json:"said"`
	}](ctx, c, call{method: http.MethodPost, path: at("links"), body: map[string]any{"code": code, "confirm": confirm}})
	return out.Said, err
}

// Links lists the accounts that are linked to the person.
func (c *Client) Links(ctx context.Context) (bridge.Page[bridge.Link], error) {
	return result[bridge.Page[bridge.Link]](ctx, c, call{method: http.MethodGet, path: at("links")})
}

// Unlink removes a link.
func (c *Client) Unlink(ctx context.Context, platform, user string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: at("links", platform, user)}, nil)
}
