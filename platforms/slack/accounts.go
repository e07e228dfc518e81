package slack

import (
	"context"
	"errors"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const fixAccount = "open the person's profile, click the three dots, and choose Copy member ID"

// account checks that a person has an account with this ID.
func (d doctor) account(ctx context.Context, r *platforms.Report, id string) {
	check := "account." + id
	u, err := d.api.GetUserInfoContext(ctx, id)
	answer, _ := errors.AsType[slack.SlackErrorResponse](err)
	switch {
	case answer.Err == "missing_scope":
		r.Add(check, bridge.FindingSkipped, "this check requires the scope users:read", fixScopes)
	case answer.Err == "user_not_found", answer.Err == "user_not_visible":
		r.Add(check, bridge.FindingFailed, "no member of the workspace has this ID", fixAccount)
	case err != nil:
		r.Fail(check, d.classify("", err), "")
	case u.Deleted:
		r.Add(check, bridge.FindingFailed, "the account is deactivated", fixAccount)
	case u.IsBot:
		r.Add(check, bridge.FindingFailed, "the account is a bot, which cannot answer", fixAccount)
	default:
		r.Add(check, bridge.FindingOK, u.RealName, "")
	}
}
