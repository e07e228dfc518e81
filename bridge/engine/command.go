package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const commandHelp = `pending: what waits in this channel
mine: what waits for you, anywhere
show ID: one request, whole
grants, revoke ID: standing approvals, and ending one
mute, unmute: make this channel read-only for nod, and let it answer again
who: who you are to nod, and what this place is called
link CODE: link an account that I do not know`

// maxShown bounds how many requests a reply lists.
const maxShown = 15

// commands carries out what people type in a channel.
type commands struct {
	records   bridge.Records
	channels  *Channels
	links     *Links
	grants    *Grants
	reader    *reader
	people    *People
	redactor  *redactor
	directory bridge.Directory
	linking   bool
}

// run implements Sink.
func (cm *commands) run(ctx context.Context, c bridge.Command) (string, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch word = strings.ToLower(word); word {
	case "pending", "mine":
		return cm.pending(ctx, c, word == "mine")
	case "show":
		return cm.show(ctx, c, strings.TrimSpace(rest))
	case "who":
		return cm.who(ctx, c)
	case "link":
		return cm.link(ctx, c.Actor, rest)
	case "grants", "revoke":
		if _, ok, err := cm.channels.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels); err != nil || !ok {
			return "Only those who may answer in this channel may do that.", err
		}
		if word == "revoke" {
			return cm.revoke(ctx, c.Actor, strings.TrimSpace(rest))
		}
		return cm.list(ctx, c.Actor)
	case "mute", "unmute":
		err := cm.channels.SetMuted(ctx, c.Actor, c.Actor.Platform, c.Channels, word == "mute")
		switch {
		case bridge.ErrorCode(err) == bridge.CodeForbidden:
			return "Only those who may answer in this channel may do that. Nothing was changed.", nil
		case err != nil:
			return "", err
		case word == "mute":
			return "This channel is read-only now: requests are still shown here, and nobody can answer them here.", nil
		}
		return "This channel can answer again.", nil
	}
	return commandHelp, nil
}

// pending lists what waits in the channel, or for the person.
func (cm *commands) pending(ctx context.Context, c bridge.Command, mine bool) (string, error) {
	var found []bridge.Record
	var more bool
	var err error
	if mine {
		found, more, err = cm.reader.waiting(ctx, c.Actor, maxShown)
	} else {
		_, ok, merr := cm.channels.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels)
		if merr != nil || !ok {
			return "Only those who may answer in this channel may see what waits in it. /" + bridge.CommandName + " mine tells what waits for you.", merr
		}
		found, more, err = cm.reader.pendingFor(ctx, maxShown, func(r bridge.Record) (bool, error) {
			if !r.Interaction.ShownIn(c.Actor.Platform, c.Channels) {
				return false, nil
			}
			return cm.people.MayRead(ctx, r.Interaction, c.Actor)
		})
	}
	if err != nil {
		return "", err
	}
	if len(found) == 0 && !more {
		if mine {
			return "Nothing waits for you.", nil
		}
		return "Nothing waits in this channel.", nil
	}
	lines := []string{"Waiting, the newest first; /" + bridge.CommandName + " show and an id says more:"}
	for _, r := range found {
		i := r.Interaction
		lines = append(lines, fmt.Sprintf("%s  %s: %s (%s left)", i.ID, bridge.OneLine(i.Agent), shortened(bridge.OneLine(i.Prompt)), i.Left(time.Now())))
	}
	if more {
		lines = append(lines, "… and older ones.")
	}
	return strings.Join(lines, "\n"), nil
}

// show tells one request to a person who may read it.
func (cm *commands) show(ctx context.Context, c bridge.Command, text string) (string, error) {
	none := "There is no such request for you. /" + bridge.CommandName + " mine lists what waits for you."
	id, err := bridge.ParseID(text)
	if err != nil {
		return none, nil //nolint:nilerr // the person is told
	}
	r, err := cm.records.Load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return none, nil
	}
	if err != nil {
		return "", err
	}
	may, err := cm.people.MayRead(ctx, r.Interaction, c.Actor)
	if err != nil {
		return "", err
	}
	if !may {
		return none, nil
	}
	return told(cm.redactor.record(r)), nil
}

// who says who somebody is to nod, and what the place is called in the
// config.
func (cm *commands) who(ctx context.Context, c bridge.Command) (string, error) {
	who := c.Actor
	if cm.directory != nil {
		var err error
		if who.Person, err = cm.directory.Identify(ctx, who); err != nil {
			return "", err
		}
	}
	account := who.Platform + ":" + who.User
	lines := []string{"You are " + who.Person + ", by the account " + account + "."}
	if who.Person == "" {
		lines[0] = "I do not know your account, " + account + ". Who runs nod can name it under people in the config."
	}
	if len(c.Channels) > 0 {
		lines = append(lines, "This place is "+who.Platform+":"+c.Channels[len(c.Channels)-1]+".")
	}
	name, ok, err := cm.channels.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels)
	if err != nil {
		return "", err
	}
	muted := false
	if ok {
		if muted, err = cm.channels.muted(ctx, bridge.Destination{Platform: c.Actor.Platform, Channel: name}); err != nil {
			return "", err
		}
	}
	switch {
	case muted:
		lines = append(lines, "You may answer here, but this channel is read-only now.")
	case ok:
		lines = append(lines, "You may answer here.")
	default:
		lines = append(lines, "You may not answer here.")
	}
	return strings.Join(lines, "\n"), nil
}

// link links an account to whoever enters its code.
func (cm *commands) link(ctx context.Context, by bridge.Actor, rest string) (string, error) {
	code, yes, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if cm.directory == nil || !cm.linking {
		return "Accounts are not linked here.", nil
	}
	var err error
	if by.Person, err = cm.directory.Identify(ctx, by); err != nil {
		return "", err
	}
	said, err := cm.links.Link(ctx, by, code, strings.EqualFold(strings.TrimSpace(yes), "yes"))
	if c := bridge.ErrorCode(err); c == bridge.CodeNotFound || c == bridge.CodeForbidden {
		return bridge.PublicError(err).Message, nil
	}
	return said, err
}

// maxGrants bounds the text of a list of grants, in bytes. A grant that does not
// fit is left out whole and counted, as its words must not be cut.
const maxGrants = 1800

// list lists the grants that a person may see, and what each covers.
func (cm *commands) list(ctx context.Context, who bridge.Actor) (string, error) {
	all, err := cm.grants.ListFor(ctx, who)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "There are no grants.", nil
	}
	lines := []string{"Grants, which approve requests without asking. Revoke one with /" + bridge.CommandName + " revoke and its ID:"}
	size, left := 0, 0
	for _, g := range all {
		line := g.ID() + "  " + g.Words()
		if size+len(line) > maxGrants {
			left++
			continue
		}
		size += len(line) + 1
		lines = append(lines, line)
	}
	if left > 0 {
		lines = append(lines, "… and "+strconv.Itoa(left)+" more: "+bridge.CommandName+" grants list shows all.")
	}
	return strings.Join(lines, "\n"), nil
}

func (cm *commands) revoke(ctx context.Context, by bridge.Actor, id string) (string, error) {
	g, err := cm.grants.RevokeAs(ctx, by, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return "There is no grant with that ID. /" + bridge.CommandName + " grants lists them.", nil
	}
	if err != nil {
		return "", err
	}
	return "Revoked. Requests that it covered are asked again: " + g.Words(), nil
}
