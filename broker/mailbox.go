package broker

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// lateBatch is the number of late answers that are read at a time.
const lateBatch = 500

// mailbox implements bridge.Mailbox.
type mailbox struct{ *core }

// Messages implements bridge.Mailbox.
func (mb *mailbox) Messages(ctx context.Context, agent, session string, limit int) ([]bridge.Message, error) {
	out := []bridge.Message{}
	err := mb.lateOf(ctx, agent, session, func(id string, interaction bridge.ID) error {
		if len(out) == limit {
			return errEnough
		}
		rec, err := mb.load(ctx, interaction)
		if bridge.ErrorCode(err) == bridge.CodeNotFound {
			return nil // its retention has passed
		}
		if err == nil {
			out = append(out, bridge.NewMessage(id, rec))
		}
		return err
	})
	return out, err
}

// Acknowledge implements bridge.Mailbox.
func (mb *mailbox) Acknowledge(ctx context.Context, agent, session, through string) ([]bridge.ID, error) {
	end, err := parseEntry(through)
	if err != nil {
		return nil, err
	}
	var entries []string
	var ids []bridge.ID
	err = mb.lateOf(ctx, agent, session, func(id string, interaction bridge.ID) error {
		if at, err := parseEntry(id); err != nil || end.before(at) {
			return errEnough
		}
		entries, ids = append(entries, id), append(ids, interaction)
		return nil
	})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return ids, unavailable(mb.client.XDel(ctx, mb.keys.late(), entries...).Err())
}

var errEnough = bridge.Errorf(bridge.CodeInternal, "enough")

// lateOf calls f for each late answer of a session, oldest first, until f
// returns an error. It returns that error, or nil for errEnough.
func (mb *mailbox) lateOf(ctx context.Context, agent, session string, f func(entry string, id bridge.ID) error) error {
	key, at := mb.keys.late(), "-"
	for {
		batch, err := mb.client.XRangeN(ctx, key, at, "+", lateBatch).Result()
		if err != nil {
			return unavailable(err)
		}
		for _, m := range batch {
			if m.Values["a"] != agent || m.Values["s"] != session {
				continue
			}
			id, _ := m.Values["i"].(string)
			if err := f(m.ID, bridge.ID(id)); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if len(batch) < lateBatch {
			return nil
		}
		at = "(" + batch[len(batch)-1].ID
	}
}

// entry is the position of a message in its stream.
type entry struct{ ms, seq uint64 }

func (e entry) before(f entry) bool { return e.ms < f.ms || e.ms == f.ms && e.seq < f.seq }

var entryForm = regexp.MustCompile(`^\d{1,15}-\d{1,15}$`)

func parseEntry(s string) (entry, error) {
	if !entryForm.MatchString(s) {
		return entry{}, bridge.Errorf(bridge.CodeInvalid, "through: invalid message ID %q", s)
	}
	ms, seq, _ := strings.Cut(s, "-")
	a, _ := strconv.ParseUint(ms, 10, 64) // entryForm allows only digits
	c, _ := strconv.ParseUint(seq, 10, 64)
	return entry{a, c}, nil
}
