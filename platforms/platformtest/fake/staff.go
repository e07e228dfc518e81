package fake

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Staff is a directory of people with an account each, and one group.
type Staff struct {
	People  map[string][]bridge.Responder
	Group   []string
	Natives map[string]string // groups of the platform, by group
	OnlyOn  string            // platform that has the native groups; empty means all platforms
	Unknown bridge.Standing   // standing of unknown accounts
	Err     error

	Strangers []string // people on call who are not in the config
	Earlier   []string // members of Group before Since
	Since     time.Time
}

func (s *Staff) Standing(context.Context, bridge.Actor) (bridge.Standing, error) {
	return s.Unknown, s.Err
}

func (s *Staff) Everyone(group string) (people []string, all bool) { return s.Group, group == "closed" }

func (s *Staff) Display(string) string { return "" }

func (s *Staff) Find(_ context.Context, text string) (string, error) {
	if s.People[text] == nil {
		return "", nil
	}
	return text, nil
}

func (s *Staff) Native(group, platform string) string {
	if s.OnlyOn != "" && platform != s.OnlyOn {
		return ""
	}
	return s.Natives[group]
}

func (s *Staff) Identify(_ context.Context, a bridge.Actor) (string, error) {
	for person, accounts := range s.People {
		for _, r := range accounts {
			if r.Platform == a.Platform && r.User == a.User {
				return person, s.Err
			}
		}
	}
	return "", s.Err
}

func (s *Staff) Member(_ context.Context, _ string, who bridge.Actor, _ time.Time) (bool, error) {
	if s.Err != nil {
		return false, s.Err
	}
	return slices.Contains(s.Group, who.Person), nil
}

func (s *Staff) Crew(_ context.Context, _ string, at time.Time) bridge.Crew {
	if s.Err != nil {
		return bridge.Crew{Unread: bridge.Cause(s.Err)}
	}
	if at.Before(s.Since) {
		return bridge.Crew{People: s.Earlier}
	}
	return bridge.Crew{People: s.Group, Strangers: s.Strangers}
}

func (s *Staff) Accounts(_ context.Context, person string) ([]bridge.Responder, error) {
	return s.People[person], s.Err
}

// NewStaff returns a directory of ana, bo, cy and di, who have an account on
// the platform chat, and a group of di and eve, who has no account.
func NewStaff() *Staff {
	s := &Staff{People: map[string][]bridge.Responder{}, Group: []string{"di", "eve"}}
	for _, who := range []string{"ana", "bo", "cy", "di"} {
		s.People[who] = []bridge.Responder{{Person: who, Platform: "chat", User: "U-" + who}}
	}
	return s // eve has no account
}
