package slack

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const fixAccount = "open the person's profile, click the three dots, and choose Copy member ID"

// account checks that a person has an account with this ID.
func (d doctor) account(ctx context.Context, r *platforms.Report, id string) {
	check := "account." + id
	u, err := d.api.GetUserInfoContext(ctx, id)
	err = d.classify("", err)
	switch {
	case platforms.Is(err, platforms.AboutPermission):
		r.Add(check, bridge.FindingSkipped, "this check requires the scope users:read", fixScopes)
	case platforms.Is(err, platforms.AboutPerson):
		r.Add(check, bridge.FindingFailed, "no member of the workspace has this ID", fixAccount)
	case err != nil:
		r.Fail(check, err, "")
	case u.Deleted:
		r.Add(check, bridge.FindingFailed, "the account is deactivated", fixAccount)
	case u.IsBot:
		r.Add(check, bridge.FindingFailed, "the account is a bot, which cannot answer", fixAccount)
	default:
		r.Add(check, bridge.FindingOK, u.RealName, "")
	}
}
