package bridge

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// muteKey names the note that makes a channel read-only.
func muteKey(platform, channel string) string { return "mute:" + platform + "/" + channel }

// muted reports whether a destination's channel is read-only.
func (e *Engine) muted(ctx context.Context, d Destination) (bool, error) {
	s, err := e.store.Note(ctx, muteKey(d.Platform, d.Channel))
	return s != "", err
}

// mayMute finds the configured channel in which the person may answer, by the
// names that it may have.
func (e *Engine) mayMute(ctx context.Context, a Actor, platform string, channels []string) (string, bool, error) {
	for _, route := range e.routes {
		n := slices.IndexFunc(route.Destinations, func(d Destination) bool { return d.Platform == platform && slices.Contains(channels, d.Channel) })
		if n < 0 {
			continue
		}
		_, why, err := e.eligible(ctx, Interaction{Responders: route.Responders, Groups: route.Groups}, a)
		if err != nil {
			return "", false, err
		}
		if why == "" {
			return route.Destinations[n].Channel, true, nil
		}
	}
	return "", false, nil
}

// SetMuted makes a channel read-only, or lets it answer again: cards in it are
// redrawn without their controls, or with them. Only who may answer in the
// channel may do that; others get CodeForbidden.
func (e *Engine) SetMuted(ctx context.Context, by Actor, platform string, channels []string, on bool) error {
	name, ok, err := e.mayMute(ctx, by, platform, channels)
	if err != nil {
		return err
	}
	if !ok {
		return Errorf(CodeForbidden, "you may not change this channel").WithHint("only those who may answer in it may")
	}
	key := muteKey(platform, name)
	if on {
		_, err = e.store.PutNote(ctx, key, by.Display()+" "+time.Now().UTC().Format(time.RFC3339), 0)
	} else {
		err = e.store.DropNote(ctx, key)
	}
	if err != nil {
		return err
	}
	if err := e.audit(ctx, AuditMode, Interaction{}, ChannelMode{Platform: platform, Channel: name, ReadOnly: on, By: by}); err != nil {
		e.log.Error("channel mode not in the audit log", "platform", platform, "channel", name, "error", err)
	}
	e.log.Info("channel mode", "platform", platform, "channel", name, "read_only", on, "by", by.Display())
	return e.redraw(ctx, platform, name)
}

// redraw draws the pending cards of a channel anew.
func (e *Engine) redraw(ctx context.Context, platform, channel string) error {
	ids, err := e.store.Pending(ctx, "", "")
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := e.store.Load(ctx, id)
		if err == nil && r.Batch != "" { // it shows in another's message
			id = r.Batch
			r, err = e.store.Load(ctx, id)
		}
		if ErrorCode(err) == CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		for n, d := range r.Interaction.Destinations {
			if _, posted := r.Messages[n]; !posted || d.Platform != platform || d.Channel != channel {
				continue
			}
			if _, err := e.store.Mark(ctx, id, Mark{Redraw: &n}); err != nil {
				return err
			}
		}
	}
	return nil
}

// CommandName is how people call nod in a chat.
const CommandName = "nod"

const commandHelp = "Use mute to make this channel read-only for nod, unmute to answer here again, status, grants to see what is allowed without asking, revoke and the id of a grant, or link and the code of an account that I do not know."

// maxShown bounds the grants that a chat is told.
const maxShown = 15

// Command implements Sink.
func (e *Engine) Command(ctx context.Context, c Command) (string, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch word = strings.ToLower(word); word {
	case "link":
		return e.commandLink(ctx, c.Actor, rest)
	case "grants", "revoke":
		if _, ok, err := e.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels); err != nil || !ok {
			return "Only those who may answer in this channel may do that.", err
		}
		if word == "revoke" {
			return e.commandRevoke(ctx, c.Actor, strings.TrimSpace(rest))
		}
		return e.commandGrants(ctx)
	case "mute", "unmute":
		err := e.SetMuted(ctx, c.Actor, c.Actor.Platform, c.Channels, word == "mute")
		switch {
		case ErrorCode(err) == CodeForbidden:
			return "Only those who may answer in this channel may do that. Nothing was changed.", nil
		case err != nil:
			return "", err
		case word == "mute":
			return "This channel is read-only now: requests are still shown here, and nobody can answer them here.", nil
		}
		return "This channel can answer again.", nil
	case "status":
		name, ok, err := e.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels)
		if err != nil || !ok {
			return "You may not answer in this channel.", err
		}
		muted, err := e.muted(ctx, Destination{Platform: c.Actor.Platform, Channel: name})
		if err != nil {
			return "", err
		}
		if muted {
			return "You may answer here, but this channel is read-only now.", nil
		}
		return "You may answer here.", nil
	}
	return commandHelp, nil
}

// commandLink links an account to whoever enters its code.
func (e *Engine) commandLink(ctx context.Context, by Actor, rest string) (string, error) {
	code, yes, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if e.directory == nil || !e.linking {
		return "Accounts are not linked here.", nil
	}
	var err error
	if by.Person, err = e.directory.Identify(ctx, by); err != nil {
		return "", err
	}
	said, err := e.Link(ctx, by, code, strings.EqualFold(strings.TrimSpace(yes), "yes"))
	if c := ErrorCode(err); c == CodeNotFound || c == CodeForbidden {
		return PublicError(err).Message, nil
	}
	return said, err
}

// commandGrants says what is allowed without asking.
func (e *Engine) commandGrants(ctx context.Context) (string, error) {
	all, err := e.Grants(ctx, "")
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "Nothing is allowed without asking.", nil
	}
	lines := []string{"Allowed without asking; end one with /" + CommandName + " revoke and its id:"}
	for n, g := range all {
		if n == maxShown {
			lines = append(lines, "… and "+strconv.Itoa(len(all)-n)+" more: "+CommandName+" grants list shows all.")
			break
		}
		lines = append(lines, g.ID()+"  "+g.Words())
	}
	return strings.Join(lines, "\n"), nil
}

func (e *Engine) commandRevoke(ctx context.Context, by Actor, id string) (string, error) {
	g, err := e.Revoke(ctx, "", id, by.Display())
	if ErrorCode(err) == CodeNotFound {
		return "There is no grant with that id. /" + CommandName + " grants lists them.", nil
	}
	if err != nil {
		return "", err
	}
	return "Revoked, it is asked again from now on: " + g.Words(), nil
}
