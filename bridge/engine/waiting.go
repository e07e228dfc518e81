package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/visible"
)

// Waiting implements Lister. It looks at the newest of what is pending.
func (e *Engine) Waiting(ctx context.Context, actor bridge.Actor, n int) ([]bridge.Record, bool, error) {
	return e.pendingFor(ctx, n, func(r bridge.Record) (bool, error) { return e.MayAnswer(ctx, r.Interaction, actor) })
}

func (e *Engine) pendingFor(ctx context.Context, n int, wanted func(bridge.Record) (bool, error)) ([]bridge.Record, bool, error) {
	ids, err := e.store.Pending(ctx, "", "")
	if err != nil {
		return nil, false, err
	}
	var out []bridge.Record
	for k, id := range ids {
		if k == maxLooked {
			return out, true, nil
		}
		r, err := e.store.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && r.State.Final() {
			continue
		}
		ok := false
		if err == nil {
			ok, err = wanted(r)
		}
		switch {
		case err != nil:
			return nil, false, err
		case ok && len(out) == n:
			return out, true, nil
		case ok:
			out = append(out, e.forPeople(r))
		}
	}
	return out, false, nil
}

// MayAnswer reports whether the actor may answer the interaction.
func (e *Engine) MayAnswer(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bool, error) {
	_, why, err := e.eligible(ctx, i, actor)
	return why == "", err
}

// Shown is a record as people see it: Get, without the credentials that
// somebody typed.
func (e *Engine) Shown(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := e.store.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return e.forPeople(r), nil
}

// Routes are the routes by name. They are not to be changed.
func (e *Engine) Routes() map[string]bridge.Route { return e.routes }

// commandPending lists what waits in the channel, or for the person.
func (e *Engine) commandPending(ctx context.Context, c bridge.Command, mine bool) (string, error) {
	var found []bridge.Record
	var more bool
	var err error
	if mine {
		found, more, err = e.Waiting(ctx, c.Actor, maxShown)
	} else {
		_, ok, merr := e.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels)
		if merr != nil || !ok {
			return "Only those who may answer in this channel may see what waits in it. /" + bridge.CommandName + " mine tells what waits for you.", merr
		}
		found, more, err = e.pendingFor(ctx, maxShown, func(r bridge.Record) (bool, error) {
			if !r.Interaction.ShownIn(c.Actor.Platform, c.Channels) {
				return false, nil
			}
			return e.MayRead(ctx, r.Interaction, c.Actor)
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

// maxShow bounds the text of a shown request, in bytes: a service takes 2000
// characters, and the rest of the answer is short.
const maxShow = 1200

// commandShow tells one request to a person who may read it.
func (e *Engine) commandShow(ctx context.Context, c bridge.Command, text string) (string, error) {
	none := "There is no such request for you. /" + bridge.CommandName + " mine lists what waits for you."
	id, err := bridge.ParseID(text)
	if err != nil {
		return none, nil //nolint:nilerr // the person is told
	}
	r, err := e.store.Load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return none, nil
	}
	if err != nil {
		return "", err
	}
	may, err := e.MayRead(ctx, r.Interaction, c.Actor)
	if err != nil {
		return "", err
	}
	if !may {
		return none, nil
	}
	return told(e.forPeople(r)), nil
}

// told is a request in words.
func told(r bridge.Record) string {
	i := r.Interaction
	lines := []string{bridge.OneLine(i.Agent) + " asks: " + cutBytes(visible.Text(strings.TrimSpace(i.Prompt)), maxShow)}
	if a := i.Approval; a != nil && a.Tool != "" {
		lines = append(lines, "To run: "+bridge.OneLine(a.Tool)+" "+shortened(bridge.OneLine(string(a.Input))))
	}
	switch {
	case r.State.Final():
		over := "It is over: " + r.Outcome()
		if r.Response != nil && r.Response.Actor != nil {
			over += ", by " + bridge.OneLine(r.Response.Actor.Display()) + " on " + r.Response.Actor.Platform
		}
		lines = append(lines, over+".")
	case len(r.Votes) > 0:
		lines = append(lines, r.Voted())
	}
	if !r.State.Final() {
		lines = append(lines, i.Left(time.Now())+" left, until "+i.Deadline.UTC().Format("15:04 UTC")+". Asked: "+responderNames(i)+".")
	}
	for n, d := range i.Destinations {
		where := d.Platform + ":" + d.Channel
		if _, posted := r.Messages[n]; !posted {
			where += " (not there yet)"
		}
		lines = append(lines, "Shown in "+where)
	}
	return strings.Join(lines, "\n")
}

// cutBytes shortens a text between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "… (" + strconv.Itoa(len(s)-n) + " bytes more are on its card)"
}

// commandWho says who somebody is to nod, and what the place is called in the
// config.
func (e *Engine) commandWho(ctx context.Context, c bridge.Command) (string, error) {
	who := c.Actor
	if e.directory != nil {
		var err error
		if who.Person, err = e.directory.Identify(ctx, who); err != nil {
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
	name, ok, err := e.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels)
	if err != nil {
		return "", err
	}
	muted := false
	if ok {
		if muted, err = e.muted(ctx, bridge.Destination{Platform: c.Actor.Platform, Channel: name}); err != nil {
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
