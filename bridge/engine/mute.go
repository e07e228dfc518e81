package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Channels makes channels read-only or writable.
type Channels struct {
	notes   bridge.Notes
	records bridge.Records
	routes  routes
	people  *People
	journal *journal
	log     *slog.Logger
}

// muteKey returns the key of the note that makes a channel read-only.
func muteKey(platform, channel string) string { return "mute:" + platform + "/" + channel }

// muteKeys returns the keys of the notes that make the channels of destinations
// read-only.
func muteKeys(all []bridge.Destination) []string {
	keys := make([]string, len(all))
	for n, d := range all {
		keys[n] = muteKey(d.Platform, d.Channel)
	}
	return keys
}

// muted reports whether a destination's channel is read-only.
func (ch *Channels) muted(ctx context.Context, d bridge.Destination) (bool, error) {
	s, err := ch.notes.Note(ctx, muteKey(d.Platform, d.Channel))
	return s != "", err
}

// mayMute finds a configured channel by its possible names, if the person may
// answer in it.
func (ch *Channels) mayMute(ctx context.Context, a bridge.Actor, platform string, channels []string) (string, bool, error) {
	for _, route := range ch.routes {
		n := slices.IndexFunc(route.Destinations, func(d bridge.Destination) bool { return d.Platform == platform && slices.Contains(channels, d.Channel) })
		if n < 0 {
			continue
		}
		_, why, err := ch.people.eligible(ctx, bridge.Interaction{Placement: bridge.Placement{
			Responders: route.Responders, Groups: route.Groups,
		}}, a)
		if err != nil {
			return "", false, err
		}
		if why == "" {
			return route.Destinations[n].Channel, true, nil
		}
	}
	return "", false, nil
}

// SetMuted makes a channel read-only or writable, and updates the controls of
// its cards. Once it returns, no click in a read-only channel decides anything,
// even one that nod received before. It returns CodeForbidden for people who may not answer in the
// channel.
func (ch *Channels) SetMuted(ctx context.Context, by bridge.Actor, platform string, channels []string, on bool) error {
	name, ok, err := ch.mayMute(ctx, by, platform, channels)
	if err != nil {
		return err
	}
	if !ok {
		return bridge.Errorf(bridge.CodeForbidden, "you may not change this channel").WithHint("ask a responder of a route to this channel")
	}
	key := muteKey(platform, name)
	if on {
		_, err = ch.notes.PutNote(ctx, key, by.Display()+" "+time.Now().UTC().Format(time.RFC3339), 0)
	} else {
		err = ch.notes.DropNote(ctx, key)
	}
	if err != nil {
		return err
	}
	if err := ch.journal.write(ctx, bridge.AuditMode, bridge.Interaction{}, bridge.ChannelMode{Platform: platform, Channel: name, ReadOnly: on, By: by}); err != nil {
		ch.log.Error("channel mode not written to the audit log", "platform", platform, "channel", name, "error", err)
	}
	ch.log.Info("channel mode", "platform", platform, "channel", name, "read_only", on, "by", by.Display())
	return ch.redraw(ctx, platform, name, on)
}

// redraw requests an update of the pending cards of a channel. If the channel
// has become read-only, it also amends their requests, so that a click that
// found the channel writable conflicts and is checked again.
func (ch *Channels) redraw(ctx context.Context, platform, channel string, on bool) error {
	ids, err := ch.records.Pending(ctx, "", "")
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := ch.records.Load(ctx, id)
		if err == nil && on {
			err = ch.touch(ctx, r, platform, channel)
		}
		if bridge.ErrorCode(err) == bridge.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		for n, d := range r.Interaction.Destinations {
			if _, posted := r.Messages[n]; !posted || d.Platform != platform || d.Channel != channel {
				continue
			}
			if _, err := ch.records.Mark(ctx, id, bridge.Mark{Redraw: &n}); err != nil {
				return err
			}
		}
	}
	return nil
}

// touch amends a pending request with a destination in the channel, without a
// change. A conflict means that another amendment came after the channel became
// read-only, which has the same effect.
func (ch *Channels) touch(ctx context.Context, r bridge.Record, platform, channel string) error {
	in := func(d bridge.Destination) bool { return d.Platform == platform && d.Channel == channel }
	if r.Over() || !slices.ContainsFunc(r.Interaction.Destinations, in) {
		return nil
	}
	err := amend(ctx, ch.records, r, bridge.Amendment{Expect: r.Amended, Interaction: r.Interaction, Step: r.Step, Next: -1})
	if bridge.ErrorCode(err) == bridge.CodeConflict {
		return nil
	}
	return err
}
