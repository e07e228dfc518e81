package session

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
)

// steerer passes messages from people to sessions.
type steerer struct {
	inbox    *Inbox
	redactor *engine.Redactor
	journal  *journal.Journal
	noter    *noter
	log      *slog.Logger
}

// Steer sends a message from a person to a session. Only people who may answer a
// request of the session may send one: others get CodeForbidden if they may read
// one, and otherwise CodeNotFound. An empty agent means the only agent with such
// a session. For a session that is stopped or has finished, Steer returns
// CodeConflict. A chat message is sent at most once.
func (se *Room) Steer(ctx context.Context, s bridge.Steering) (bridge.Steering, error) {
	var err error
	if s.Text, err = bridge.SteeringText(s.Text); err != nil {
		return s, err
	}
	if err := se.admitSteering(ctx, &s); err != nil {
		return s, err
	}
	if s.At.IsZero() {
		s.At = time.Now()
	}
	s.At = s.At.UTC().Truncate(time.Millisecond)
	return se.steerer.put(ctx, s)
}

// admitSteering returns an error unless the author may send a message to the
// session now; see Steer. It sets the person and the agent.
func (se *Room) admitSteering(ctx context.Context, s *bridge.Steering) error {
	s.By = se.identify(ctx, s.By)
	requests, err := se.steerable(ctx, s)
	if err != nil {
		return err
	}
	if err := se.maySteer(ctx, *s, requests); err != nil {
		return err
	}
	_, err = se.inbox.open(ctx, s.Agent, s.Session)
	return err
}

// steerable returns the newest requests of the session of a message. It sets the
// agent if the message names none.
func (se *Room) steerable(ctx context.Context, s *bridge.Steering) ([]bridge.Interaction, error) {
	if s.Agent != "" {
		requests, err := se.requests(ctx, s.Agent, s.Session)
		if err == nil && len(requests) == 0 && s.Route == "" {
			err = noSession(s.Session)
		}
		return requests, err
	}
	var found []bridge.Interaction
	err := se.each(ctx, "", s.Session, func(requests []bridge.Interaction) error {
		switch {
		case !se.sees(ctx, s.By, requests):
			return nil
		case found != nil:
			return bridge.Errorf(bridge.CodeConflict, "several agents have a session %q", s.Session).WithHint("name the agent")
		}
		found, s.Agent = requests, requests[0].Agent
		return nil
	})
	if err == nil && found == nil {
		err = noSession(s.Session)
	}
	return found, err
}

// maySteer returns an error unless the author of a message may answer one of
// the requests of its session. Notices count only if the session has no other
// requests.
func (se *Room) maySteer(ctx context.Context, s bridge.Steering, requests []bridge.Interaction) error {
	asked := slices.DeleteFunc(slices.Clone(requests), func(i bridge.Interaction) bool { return i.Kind == bridge.KindNotice })
	if len(asked) == 0 {
		asked = requests
	}
	for _, i := range asked {
		if se.engine.People.MayAnswer(ctx, i, s.By) {
			return nil
		}
	}
	if len(asked) == 0 {
		route := se.engine.Routes()[s.Route] // empty if the route no longer exists
		if in, _ := se.engine.People.Among(ctx, route.Responders, route.Groups, s.By); in {
			return nil
		}
	}
	se.engine.Journal.Refuse(ctx, bridge.Interaction{Agent: s.Agent, Ask: bridge.Ask{Session: s.Session}}, s.By, "message: "+people.WhyNobody)
	if !se.sees(ctx, s.By, requests) {
		return noSession(s.Session)
	}
	return bridge.Errorf(bridge.CodeForbidden, "you may not send messages to this session: %s", people.WhyNobody).
		WithHint("ask a responder of its requests")
}

// put stores a message. It is in the audit log before the agent can take it.
func (st *steerer) put(ctx context.Context, s bridge.Steering) (bridge.Steering, error) {
	key := ""
	if s.Where != nil {
		key = s.Where.Platform + "/" + s.Where.Ref.Channel + "/" + s.Where.Ref.Message
		if s.Where.Dialog { // one message can have several dialogs, each with its own text
			key += "/" + s.Nonce
		}
	}
	logged := redacted(st.redactor, s)
	i := bridge.Interaction{Agent: s.Agent, Ask: bridge.Ask{Session: s.Session}}
	if err := st.journal.Write(ctx, bridge.AuditSteer, i, logged); err != nil {
		return s, err
	}
	s, err := st.inbox.Put(ctx, s, key)
	if err == nil {
		st.log.Info("message for a session", "agent", s.Agent, "session", s.Session, "by", s.By.Display(), "message", s.ID)
	}
	return s, err
}

// Sent returns a message that a person sent to a session, for people who may
// read a request of that session.
func (se *Room) Sent(ctx context.Context, by bridge.Actor, session, id string) (bridge.Steering, error) {
	s, err := se.inbox.Steering(ctx, session, id)
	if err != nil {
		return s, err
	}
	requests, err := se.requests(ctx, s.Agent, s.Session)
	if err != nil {
		return s, err
	}
	if !se.sees(ctx, by, requests) && !s.By.Same(by) {
		err = bridge.Errorf(bridge.CodeNotFound, "message %q not found", id)
	}
	return s, err
}
