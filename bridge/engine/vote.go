package engine

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// vote records a decision as a vote. It returns the record afterward.
func (s *Decisions) vote(ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response) (bridge.Record, bridge.BallotResult, error) {
	i := rec.Interaction
	b := s.ballot(ctx, rec, actor, r)
	b.Expect = &rec.Amended
	got, result, err := s.outcomes.Vote(ctx, b)
	if err != nil {
		return got, result, err
	}
	s.log.Info("voted", "id", i.ID, "vote", r.State, "result", result, "platform", actor.Platform, "user", actor.User)
	return got, result, nil
}

// ballot returns the vote of an actor for a response. A denial needs no one to be
// looked up. An approval counts at least toward what an earlier one of the same
// person counts toward.
func (s *Decisions) ballot(ctx context.Context, rec bridge.Record, actor bridge.Actor, r bridge.Response) bridge.Ballot {
	i := rec.Interaction
	b := bridge.Ballot{ID: i.ID, Response: r, Nonce: nonce(actor, r), Vote: bridge.Vote{
		Actor: actor, State: r.State, Scope: r.Scope, Reason: r.Reason, At: r.At, Message: r.Message, Content: i.Content,
		Assurance: r.Assurance, Assertion: r.Assertion,
	}}
	b.Response.Assertion = nil // each vote has its own
	if r.State != bridge.StateApproved {
		return b
	}
	b.Covers, _ = s.people.Covers(ctx, i, actor, r.At)
	for _, v := range rec.Votes {
		if v.State == bridge.StateApproved && v.SameVoter(b.Vote) {
			b.Covers = append(b.Covers, bridge.Missing(b.Covers, v.Covers)...)
		}
	}
	slices.Sort(b.Covers)
	return b
}

// void takes back approvals in an amendment, and tells those who gave them, where a
// mention reaches them.
func (m *mentioner) void(ctx context.Context, a *bridge.Amendment, r bridge.Record, votes []bridge.Vote, why string) {
	for _, v := range votes {
		a.Void = append(a.Void, v.Actor.Voter())
		accounts := []bridge.Responder{{Person: v.Actor.Person, Platform: v.Actor.Platform, User: v.Actor.User}}
		if v.Actor.Person != "" && m.directory != nil {
			more, err := m.directory.Accounts(ctx, v.Actor.Person)
			if err != nil {
				m.log.Warn("accounts of a person not found", "id", r.Interaction.ID, "person", v.Actor.Person, "error", err)
			}
			accounts = append(accounts, more...)
		}
		n, account, found := m.reach(r, accounts)
		if !found {
			m.log.Warn("no card where a person can be told of a void approval", "id", r.Interaction.ID, "who", v.Actor.Voter())
			continue
		}
		a.Reminders = append(a.Reminders, bridge.Reminder{
			Destination: n, Users: []string{account.User}, Names: []string{v.Actor.Display()},
			Text: "your approval no longer counts, because " + why + ": " + words.About(r),
		})
	}
}

// reach returns the first posted card next to which a mention reaches one of the
// accounts of a person, and that account.
func (m *mentioner) reach(r bridge.Record, accounts []bridge.Responder) (int, bridge.Responder, bool) {
	for _, a := range accounts {
		for n, d := range r.Interaction.Destinations {
			if _, posted := r.Messages[n]; posted && m.platforms.reaches(d, a) {
				return n, a, true
			}
		}
	}
	return 0, bridge.Responder{}, false
}
