package main

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

const (
	// listMost is the maximum number of requests in one page.
	listMost = 200
	// clockSlack is the assumed maximum difference between the clocks of the
	// processes that create IDs.
	clockSlack = time.Hour
	// someID completes the beginning of an ID to a full ID.
	someID = "00000000-0000-7000-8000-000000000000"
)

// requestID returns the ID that arg refers to: an ID, the beginning of an ID,
// or the word for the newest request in a state. An empty state matches any.
func requestID(ctx context.Context, cl *client.Client, arg string, state bridge.State) (bridge.ID, error) {
	if id, err := bridge.ParseID(arg); err == nil {
		return id, nil
	}
	f := bridge.ListFilter{Limit: listMost}
	earliest := time.Time{}
	if arg == bridge.Newest {
		f.Limit, f.State = 1, state
	} else {
		prefix := strings.ToLower(arg)
		if len(prefix) < bridge.MinPart || len(prefix) >= len(someID) || uuid.Validate(prefix+someID[len(prefix):]) != nil {
			return "", bridge.Errorf(bridge.CodeInvalid, "invalid ID %q", arg).
				WithHint("use an ID from nod list, at least its first %d characters, or the word %s", bridge.MinPart, bridge.Newest)
		}
		earliest = bridge.ID(prefix + someID[len(prefix):]).Time().Add(-clockSlack)
	}
	var ids []bridge.ID
	for {
		page, err := cl.List(ctx, f)
		if err != nil {
			return "", err
		}
		for _, r := range page.Items {
			ids = append(ids, r.Interaction.ID)
		}
		id, err := bridge.Expand(arg, ids)
		f.Cursor = page.Next
		more := f.Cursor != "" && arg != bridge.Newest && !page.Items[len(page.Items)-1].Interaction.Created.Before(earliest)
		switch code := bridge.ErrorCode(err); {
		case more && (err == nil || code == bridge.CodeNotFound): // another page may have one
		case code == bridge.CodeNotFound && arg == bridge.Newest:
			return "", bridge.Errorf(bridge.CodeNotFound, "no %srequests", given(state)).WithHint("list the requests with: nod list")
		case code == bridge.CodeNotFound:
			return "", bridge.Errorf(bridge.CodeNotFound, "request %q not found", arg).WithHint("list the requests with: nod list")
		default:
			return id, err
		}
	}
}

// given returns a state as an adjective before a noun.
func given(s bridge.State) string {
	if s == "" {
		return ""
	}
	return string(s) + " "
}

// grantID returns the ID of the grant that arg refers to: an ID, the beginning
// of an ID, or the word for the newest grant.
func grantID(ctx context.Context, cl *client.Client, arg string) (string, error) {
	all, err := cl.Grants(ctx, "")
	if err != nil {
		return "", err
	}
	grants := make([]bridge.Grant, len(all.Items))
	for n, g := range all.Items {
		grants[n] = g.Grant
	}
	id, err := bridge.Expand(arg, bridge.GrantIDs(grants))
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return "", bridge.Errorf(bridge.CodeNotFound, "grant %q not found", arg).WithHint("list the grants with: nod grants list")
	}
	return id, err
}

// sessionID returns the session that arg refers to. Only a generated ID, a
// UUID, can be abbreviated: "job-1" must never mean "job-10".
func sessionID(ctx context.Context, cl *client.Client, arg string) (string, error) {
	generated := len(arg) >= bridge.MinPart && len(arg) < len(someID) && uuid.Validate(arg+someID[len(arg):]) == nil
	if arg != bridge.Newest && !generated {
		return arg, nil
	}
	all, err := cl.Sessions(ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, s := range all.Items {
		if s.ID == arg {
			return arg, nil
		}
		if arg == bridge.Newest || uuid.Validate(s.ID) == nil {
			ids = append(ids, s.ID)
		}
	}
	id, err := bridge.Expand(arg, ids)
	if bridge.ErrorCode(err) == bridge.CodeNotFound && generated {
		return arg, nil // arg may be a name
	}
	return id, err
}
