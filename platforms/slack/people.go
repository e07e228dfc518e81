package slack

import (
	"context"
	"slices"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
)

// people looks up members of the workspace.
type people struct{ *workspace }

// Belongs implements bridge.Grouper. Group is the ID of a user group. The app
// needs the scope usergroups:read.
func (p people) Belongs(ctx context.Context, group, user string) (bool, error) {
	members, err := p.Members(ctx, group)
	return slices.ContainsFunc(members, func(id string) bool { return p.SameAccount(id, user) }), err
}

// Members implements bridge.MemberLister.
func (p people) Members(ctx context.Context, group string) ([]string, error) {
	members, err := p.api.GetUserGroupMembersContext(ctx, group)
	return members, p.classify("", err)
}

// SameAccount implements bridge.AccountMatcher. In an Enterprise Grid, an
// account has two IDs: one that begins with W, and one that begins with U.
func (p people) SameAccount(a, b string) bool {
	return a == b || isPerson(a) && isPerson(b) && a[1:] == b[1:]
}

func isPerson(id string) bool { return len(id) > 1 && (id[0] == 'U' || id[0] == 'W') }

// Email implements bridge.EmailResolver. The app needs the scope users:read.email.
func (p people) Email(ctx context.Context, user string) (string, bridge.Standing, error) {
	u, err := p.api.GetUserInfoContext(ctx, user)
	if err != nil {
		return "", "", p.classify("", err)
	}
	me := p.self(ctx)
	switch {
	case me.TeamID == "":
		return "", "", bridge.Errorf(bridge.CodeUnavailable, "slack: the workspace of the app is not known yet")
	case u.Deleted:
		return "", "", nil
	}
	return u.Profile.Email, standing(*u, me), nil
}

// standing returns the standing of an account in the workspace of the app.
// Slack's is_stranger is false for members of another workspace in a shared
// channel: docs.slack.dev/reference/objects/user-object.
func standing(u slack.User, me slack.AuthTestResponse) bridge.Standing {
	organization := me.EnterpriseID != "" && u.Enterprise.EnterpriseID == me.EnterpriseID
	switch {
	case u.IsBot || u.IsWorkflowBot || u.IsConnectorBot:
		return bridge.StandingBot
	case u.IsStranger || u.TeamID != me.TeamID && !organization:
		return bridge.StandingOutsider
	case u.IsRestricted || u.IsUltraRestricted:
		return bridge.StandingGuest
	case !u.IsEmailConfirmed:
		return bridge.StandingUnconfirmed
	}
	return ""
}
