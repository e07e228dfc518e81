package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/caller"
)

// relayed reports the sessions of an agent that nod relays, and fetches the
// messages that people write to them. It implements relay.Sessions.
type relayed struct {
	client        *client.Client
	reader, route string
}

func newRelayed(c *client.Client, agent, route string) relayed {
	return relayed{c, agent + " " + uuid.NewString(), route}
}

// Take implements relay.Inbox.
func (r relayed) Take(ctx context.Context, session string) ([]bridge.Message, error) {
	return r.client.TakeMessages(ctx, session, client.Taking{Reader: r.reader, Lease: inboxLease, Wait: inboxPoll})
}

// Took implements relay.Inbox.
func (r relayed) Took(ctx context.Context, session, through string) error {
	return r.client.Acknowledge(ctx, session, through)
}

// Report implements relay.Sessions. It adds facts about the machine.
func (r relayed) Report(ctx context.Context, session string, s bridge.SessionReport) error {
	s.Route = r.route
	if host, err := os.Hostname(); err == nil {
		s.Host, _, _ = strings.Cut(host, ".")
	}
	if filepath.IsAbs(s.Folder) {
		s.Branch = caller.Branch(s.Folder)
		s.Folder = caller.BelowHome(s.Folder)
	}
	_, err := r.client.Report(ctx, session, s)
	return err
}

// Stopped implements relay.Sessions.
func (r relayed) Stopped(ctx context.Context, session string) (bool, error) {
	stop, err := r.client.Stopped(ctx, session)
	return stop != nil, err
}
