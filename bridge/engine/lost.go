package engine

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/words"
)

// lostCards handles cards that were deleted, and cards that nod can no longer
// change.
type lostCards struct {
	records   core.Interactions
	notes     documents.Notes
	reader    *reader
	platforms platforms
	log       *slog.Logger
}

const (
	// lookFrom is the shortest remaining time in which nod checks a card a
	// second time.
	lookFrom = 2 * time.Minute
	// lostKept is the time after the deadline for which nod remembers its
	// reaction to a lost card.
	lostKept = time.Hour
	// reasonDeleted is the reason that a destination failed because its card
	// was deleted repeatedly.
	reasonDeleted = "someone deleted the card, and deleted it again after nod had posted it again"
)

// lookAfter returns the time after which nod updates a posted card to find out
// whether it still exists, because not every platform reports deletions. It is
// zero if that check is not worth a call.
func lookAfter(i bridge.Interaction) time.Duration {
	left := time.Until(i.Deadline)
	if i.Kind == bridge.KindNotice || left < lookFrom {
		return 0
	}
	return left / 2
}

// deleted implements Engine.Deleted.
func (l *lostCards) deleted(ctx context.Context, platform string, message bridge.MessageRef) error {
	gone := func(ref bridge.MessageRef) bool {
		return ref.Channel == message.Channel && ref.Message == message.Message
	}
	found, err := l.reader.posted(ctx, platform, gone)
	for _, r := range found {
		for n, d := range r.Interaction.Destinations {
			if d.Platform != platform || !gone(r.Messages[n]) {
				continue
			}
			if err := l.found(ctx, r, n); err != nil {
				return err
			}
		}
	}
	return err
}

// found handles a pending card whose message was deleted. It posts the card again,
// once. The second time, it gives up the destination. The record is the one with
// the deleted message: the card may have been posted again since.
func (l *lostCards) found(ctx context.Context, r bridge.Record, destination int) error {
	ref, posted := r.Messages[destination]
	i := r.Interaction
	if r.State.Final() || !posted || i.Kind == bridge.KindNotice {
		return nil
	}
	key := "deleted:" + string(i.ID) + ":" + strconv.Itoa(destination)
	first, err := l.notes.PutNote(ctx, key, ref.Message, max(0, time.Until(i.Deadline))+lostKept)
	if err != nil {
		return err
	}
	again := first == ref.Message // a repeated report of the same deletion counts once
	l.log.Warn("a pending card is gone", "id", i.ID, "destination", destination, "posted_again", again)
	_, err = l.records.Mark(ctx, i.ID, life.Deleted{Failed: failure(i, r.Step, destination, reasonDeleted), Ref: ref, Again: again})
	return err
}

// gone reports whether an error of a call about the card of a record means that the
// card can no longer be used.
func gone(r bridge.Record, err error) bool {
	return errors.Is(err, bridge.ErrDeleted) || errors.Is(err, bridge.ErrClosed) && !r.State.Final()
}

// tell replies to a closed card that nod cannot change, once for each outcome. After a
// kill in between, the reply appears twice, which is better than never.
func (l *lostCards) tell(ctx context.Context, r bridge.Record, destination int) error {
	ref, posted := r.Messages[destination]
	i := r.Interaction
	if !posted {
		return nil
	}
	teller, ok := l.platforms[i.Destinations[destination].Platform].(bridge.ReminderPoster)
	if !ok {
		return nil
	}
	key := "told:" + string(i.ID) + ":" + strconv.Itoa(destination) + ":" + string(r.State)
	if told, err := l.notes.Note(ctx, key); err != nil || told != "" {
		return err
	}
	text := words.Closed(l.reader.redactor.Record(r))
	err := teller.Remind(ctx, i.Destinations[destination], ref, bridge.Reminder{Destination: destination, Text: text})
	if err == nil {
		_, err = l.notes.PutNote(ctx, key, ref.Message, lostKept)
	}
	return err
}
