package slack

import (
	"context"
	"slices"
)

// people looks up members of the workspace.
type people struct{ *workspace }

// Belongs implements bridge.Grouper. Group is the ID of a user group. The app
// needs the scope usergroups:read.
func (p people) Belongs(ctx context.Context, group, user string) (bool, error) {
	members, err := p.api.GetUserGroupMembersContext(ctx, group)
	if err != nil {
		return false, p.classify("", err)
	}
	return slices.Contains(members, user), nil
}

// Email implements bridge.EmailResolver. The app needs the scope users:read.email.
func (p people) Email(ctx context.Context, user string) (string, error) {
	u, err := p.api.GetUserInfoContext(ctx, user)
	if err != nil {
		return "", p.classify("", err)
	}
	// Neither an account of another workspace nor an unconfirmed address proves
	// who the person is.
	if u.Deleted || u.IsBot || u.IsStranger || !u.IsEmailConfirmed {
		return "", nil
	}
	return u.Profile.Email, nil
}
