package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
)

// ShownSessions remembers which session a message in chat belongs to, so that a
// reply to it reaches that session.
type ShownSessions struct{ Notes documents.Notes }

// ShownSession is a session that a message in chat shows.
type ShownSession struct {
	Agent   string `json:"a"`
	Session string `json:"s"`
	Route   string `json:"r,omitempty"`
	// Channel is the channel of the message under its name in the config.
	Channel string `json:"c"`
}

// shownFor is the time for which replies to a message reach its session.
const shownFor = 7 * 24 * time.Hour

func shownKey(platform, channel, message string) string {
	return "shown:" + platform + "/" + channel + "/" + message
}

// Put remembers that a message shows a session.
func (ss *ShownSessions) Put(ctx context.Context, platform string, ref bridge.MessageRef, s ShownSession) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = ss.Notes.PutNote(ctx, shownKey(platform, ref.Channel, ref.Message), string(raw), shownFor)
	return err
}

// Of returns the session of the message that a person replied to, or of its
// thread. It returns false if they belong to no session.
func (ss *ShownSessions) Of(ctx context.Context, s bridge.Said) (ShownSession, bool, error) {
	for _, message := range []string{s.Card.Message, s.Card.Thread, s.In} {
		if message == "" {
			continue
		}
		raw, err := ss.Notes.Note(ctx, shownKey(s.Actor.Platform, s.Card.Channel, message))
		if err != nil {
			return ShownSession{}, false, err
		}
		var s ShownSession
		if json.Unmarshal([]byte(raw), &s) == nil && s.Session != "" {
			return s, true, nil
		}
	}
	return ShownSession{}, false, nil
}
