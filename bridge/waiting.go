package bridge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/visible"
)

// Lister is a Sink that knows what waits for somebody.
type Lister interface {
	// Waiting returns the newest requests that wait for an answer and that the
	// actor may give, at most n, and whether there are more.
	Waiting(ctx context.Context, actor Actor, n int) ([]Record, bool, error)
}

// Waiting implements Lister. It looks at the newest of what is pending.
func (e *Engine) Waiting(ctx context.Context, actor Actor, n int) ([]Record, bool, error) {
	return e.pendingFor(ctx, n, func(r Record) (bool, error) { return e.MayAnswer(ctx, r.Interaction, actor) })
}

func (e *Engine) pendingFor(ctx context.Context, n int, wanted func(Record) (bool, error)) ([]Record, bool, error) {
	ids, err := e.store.Pending(ctx, "", "")
	if err != nil {
		return nil, false, err
	}
	var out []Record
	for k, id := range ids {
		if k == maxLooked {
			return out, true, nil
		}
		r, err := e.store.Load(ctx, id)
		if ErrorCode(err) == CodeNotFound || err == nil && r.State.Final() {
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
func (e *Engine) MayAnswer(ctx context.Context, i Interaction, actor Actor) (bool, error) {
	_, why, err := e.eligible(ctx, i, actor)
	return why == "", err
}

// Shown is a record as people see it: Get, without the credentials that
// somebody typed.
func (e *Engine) Shown(ctx context.Context, id ID) (Record, error) {
	r, err := e.store.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return e.forPeople(r), nil
}

// Routes are the routes by name. They are not to be changed.
func (e *Engine) Routes() map[string]Route { return e.routes }

// shownIn reports whether a request is shown in a place.
func (i Interaction) shownIn(platform string, channels []string) bool {
	return slices.ContainsFunc(i.Destinations, func(d Destination) bool {
		return d.Platform == platform && slices.Contains(channels, d.Channel)
	})
}

// commandPending lists what waits in the channel, or for the person.
func (e *Engine) commandPending(ctx context.Context, c Command, mine bool) (string, error) {
	var found []Record
	var more bool
	var err error
	if mine {
		found, more, err = e.Waiting(ctx, c.Actor, maxShown)
	} else {
		_, ok, merr := e.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels)
		if merr != nil || !ok {
			return "Only those who may answer in this channel may see what waits in it. /" + CommandName + " mine tells what waits for you.", merr
		}
		found, more, err = e.pendingFor(ctx, maxShown, func(r Record) (bool, error) {
			if !r.Interaction.shownIn(c.Actor.Platform, c.Channels) {
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
	lines := []string{"Waiting, the newest first; /" + CommandName + " show and an id says more:"}
	for _, r := range found {
		i := r.Interaction
		lines = append(lines, fmt.Sprintf("%s  %s: %s (%s left)", i.ID, oneLine(i.Agent), shortened(oneLine(i.Prompt)), i.left(time.Now())))
	}
	if more {
		lines = append(lines, "… and older ones.")
	}
	return strings.Join(lines, "\n"), nil
}

// left is how long there is to answer, in words.
func (i Interaction) left(now time.Time) string {
	d := i.Remaining(now)
	if d >= time.Minute {
		return brief(d.Round(time.Minute))
	}
	return d.Round(time.Second).String()
}

// maxShow bounds the text of a shown request, in bytes: a service takes 2000
// characters, and the rest of the answer is short.
const maxShow = 1200

// commandShow tells one request to a person who may read it.
func (e *Engine) commandShow(ctx context.Context, c Command, text string) (string, error) {
	none := "There is no such request for you. /" + CommandName + " mine lists what waits for you."
	id, err := ParseID(text)
	if err != nil {
		return none, nil //nolint:nilerr // the person is told
	}
	r, err := e.store.Load(ctx, id)
	if ErrorCode(err) == CodeNotFound {
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
	return e.told(e.forPeople(r)), nil
}

// told is a request in words.
func (e *Engine) told(r Record) string {
	i := r.Interaction
	lines := []string{oneLine(i.Agent) + " asks: " + cutBytes(visible.Text(strings.TrimSpace(i.Prompt)), maxShow)}
	if a := i.Approval; a != nil && a.Tool != "" {
		lines = append(lines, "To run: "+oneLine(a.Tool)+" "+shortened(oneLine(string(a.Input))))
	}
	switch {
	case r.State.Final():
		over := "It is over: " + r.Outcome()
		if r.Response != nil && r.Response.Actor != nil {
			over += ", by " + oneLine(r.Response.Actor.Display()) + " on " + r.Response.Actor.Platform
		}
		lines = append(lines, over+".")
	case len(r.Votes) > 0:
		lines = append(lines, r.Voted())
	}
	if !r.State.Final() {
		lines = append(lines, i.left(time.Now())+" left, until "+i.Deadline.UTC().Format("15:04 UTC")+". Asked: "+responderNames(i)+".")
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
func (e *Engine) commandWho(ctx context.Context, c Command) (string, error) {
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
		if muted, err = e.muted(ctx, Destination{Platform: c.Actor.Platform, Channel: name}); err != nil {
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
