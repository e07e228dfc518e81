package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// shownSessions remembers which session a message in chat belongs to, so that a
// reply to it reaches that session.
type shownSessions struct{ notes bridge.Notes }

// shownSession is a session that a message in chat shows.
type shownSession struct {
	Agent   string `json:"a"`
	Session string `json:"s"`
	Route   string `json:"r,omitempty"`
	// Channel is the channel of the message, as the config names it.
	Channel string `json:"c"`
}

// shownFor is the time for which replies to a message reach its session.
const shownFor = 7 * 24 * time.Hour

func shownKey(platform, channel, message string) string {
	return "shown:" + platform + "/" + channel + "/" + message
}

// put remembers that a message shows a session.
func (ss *shownSessions) put(ctx context.Context, platform string, ref bridge.MessageRef, s shownSession) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = ss.notes.PutNote(ctx, shownKey(platform, ref.Channel, ref.Message), string(raw), shownFor)
	return err
}

// of returns the session of the message, or else of the thread, that was replied
// to. It returns false if there is none.
func (ss *shownSessions) of(ctx context.Context, s bridge.Said) (shownSession, bool, error) {
	for _, message := range []string{s.Card.Message, s.Card.Thread, s.In} {
		if message == "" {
			continue
		}
		raw, err := ss.notes.Note(ctx, shownKey(s.Actor.Platform, s.Card.Channel, message))
		if err != nil {
			return shownSession{}, false, err
		}
		var s shownSession
		if json.Unmarshal([]byte(raw), &s) == nil && s.Session != "" {
			return s, true, nil
		}
	}
	return shownSession{}, false, nil
}
