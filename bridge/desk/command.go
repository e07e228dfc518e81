package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/render"
)

const commandHelp = `pending: list pending requests in this channel
mine: list all pending requests that you can answer
show ID: show one request in full
cancel ID: cancel one request, as one of its responders or an owner of its agent
grants, revoke ID: list grants (standing approvals), or revoke one
the first or last characters of an ID are enough; last means the newest
grants 2, sessions 2: show the second page of a long list; pending and mine end with the command for theirs
sessions: list your sessions
stop SESSION, stop all: deny everything that a session asks until someone resumes it
resume SESSION: let a stopped session ask again
tell SESSION TEXT: send a message to the agent of a session
who: show your identity in nod and the ID of this channel
link CODE: link another account to you`

// Command runs a chat command, and returns the reply to the person.
func (d *Desk) Command(ctx context.Context, c bridge.Command) (string, error) {
	if words.Old(c.At) {
		return words.ArrivedOld(c.At, words.NotDoneOld), nil
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch word = strings.ToLower(word); word {
	case "pending", "mine":
		return d.pending(ctx, c, word)
	case "show":
		return d.show(ctx, c, strings.TrimSpace(rest))
	case "cancel":
		return d.cancel(ctx, c, strings.TrimSpace(rest))
	case "who":
		return d.who(ctx, c)
	case "link":
		return d.link(ctx, c.Actor, rest)
	case "sessions", "stop", "resume":
		return d.session(ctx, c, word, strings.TrimSpace(rest))
	case "tell":
		return d.tell(ctx, c, strings.TrimSpace(rest))
	case "grants", "revoke":
		if ok, unread := d.mayAnswerIn(ctx, c); !ok {
			return "Only responders of this channel can do that." + unreadable(unread), nil
		}
		if word == "revoke" {
			return d.revoke(ctx, c.Actor, strings.TrimSpace(rest))
		}
		return d.list(ctx, c)
	}
	return commandHelp, nil
}

// pending lists the pending requests of the channel or, for the word "mine", of
// the person.
func (d *Desk) pending(ctx context.Context, c bridge.Command, word string) (string, error) {
	mine := word == "mine"
	if !mine {
		if ok, unread := d.mayAnswerIn(ctx, c); !ok {
			return "Only responders of this channel can list its pending requests. To list yours, send /" + bridge.CommandName + " mine." + unreadable(unread), nil
		}
	}
	var unread []string // reasons why the list may lack requests
	found, more, err := d.engine.Pending(ctx, 0, func(r bridge.Record) (bool, error) {
		if !mine && !r.Interaction.ShownIn(c.Actor.Platform, c.Channels) {
			return false, nil
		}
		_, no := d.engine.People.Eligible(ctx, r.Interaction, c.Actor)
		if no.Why == "" || !mine && d.engine.People.MayRead(ctx, r.Interaction, c.Actor) {
			return true, nil
		}
		unread = append(unread, bridge.Missing(unread, no.Unread)...)
		return false, nil
	})
	if err != nil {
		return "", err
	}
	if len(found.Items) == 0 && !more {
		if mine {
			return "You have no pending requests." + unreadable(unread) + bridge.Lacks(found.Unreadable, "request"), nil
		}
		return "No pending requests in this channel." + unreadable(unread) + bridge.Lacks(found.Unreadable, "request"), nil
	}
	slices.SortFunc(found.Items, func(a, b bridge.Record) int { return strings.Compare(listKey(a), listKey(b)) })
	lines, err := d.lines(ctx, c, found.Items)
	if err != nil {
		return "", err
	}
	var keys []string
	for _, r := range found.Items {
		keys = append(keys, listKey(r))
	}
	text := listedAfter("Pending requests, next deadline first:", keys, lines, c)
	if more {
		text += "\n… and requests with later deadlines."
	}
	if note := strings.TrimSpace(unreadable(unread) + bridge.Lacks(found.Unreadable, "request")); note != "" {
		text += "\n" + note
	}
	return text, nil
}

// lines returns a line for each pending request. The line links to the card in
// this channel. If there is no such card, it contains the command for the
// details.
func (d *Desk) lines(ctx context.Context, c bridge.Command, found []bridge.Record) ([]string, error) {
	var lines []string
	for _, r := range found {
		i := r.Interaction
		line := fmt.Sprintf("%s (%s, %s left)", words.ListedAs(r), bridge.OneLine(i.Agent), i.Left(time.Now()))
		at, err := d.engine.Link(ctx, r, c.Actor.Platform, c.Channels)
		if err != nil {
			return nil, err
		}
		if at == "" {
			at = "show " + i.ID.Short()
		}
		line += " " + at
		lines = append(lines, line)
	}
	return lines, nil
}

// show describes one request to a person who may read it.
func (d *Desk) show(ctx context.Context, c bridge.Command, text string) (string, error) {
	r, note, err := d.find(ctx, c, text)
	if err != nil || note != "" {
		return note, err
	}
	return words.Describe(d.engine.Redactor.Record(r)), nil
}

// find returns the request in a command. If the person may not read such a
// request, it returns a note for the person.
func (d *Desk) find(ctx context.Context, c bridge.Command, text string) (bridge.Record, string, error) {
	none := "Request not found, or not visible to you. To list your pending requests, send /" + bridge.CommandName + " mine."
	id, err := d.request(ctx, c.Actor, text)
	if err != nil {
		note, err := notExpanded(err, none)
		return bridge.Record{}, note, err
	}
	r, err := d.records.Load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return r, none, nil
	}
	if err != nil {
		return r, "", err
	}
	switch {
	case !d.engine.People.MayRead(ctx, r.Interaction, c.Actor):
		return r, none, nil
	case words.Before(c.At, r.Interaction.Created):
		return r, words.OlderThan, nil
	}
	return r, "", nil
}

// cancel cancels a pending request on behalf of a person.
func (d *Desk) cancel(ctx context.Context, c bridge.Command, text string) (string, error) {
	r, note, err := d.find(ctx, c, text)
	if err != nil || note != "" {
		return note, err
	}
	if r.State.Final() {
		return words.Late(r, c.Actor), nil
	}
	i := r.Interaction
	r, err = d.engine.Withdraw(ctx, i.ID, c.Actor, "")
	if bridge.ErrorCode(err) == bridge.CodeForbidden {
		return "You may not cancel this request. Nothing was changed. Its responders and the owners of its agent can. Responders: " +
			words.Responders(i) + ".", nil
	}
	if err != nil {
		return "", err
	}
	by := r.Response.WithdrawnBy
	if by == nil || by.Platform != c.Actor.Platform || by.User != c.Actor.User {
		return words.Late(r, c.Actor), nil
	}
	return "Cancelled: " + words.Short(render.Title(r)) + " nod tells " + bridge.OneLine(i.Agent) + " that it was cancelled.", nil
}

// who replies with the person's identity, and with the name of the channel for
// the config.
func (d *Desk) who(ctx context.Context, c bridge.Command) (string, error) {
	who, unread := d.engine.People.Identify(ctx, c.Actor)
	account := who.Platform + ":" + who.User
	lines := []string{"You are " + who.Display() + " (account " + account + ")."}
	if who.Person == "" {
		lines[0] = "nod does not know your account " + account + ". Ask your nod administrator to add it under people in the config."
		if unread != "" {
			lines[0] = "nod does not know your account " + account + "." + unreadable([]string{unread})
		}
		if reason := d.engine.People.Standing(ctx, who); reason != "" {
			lines[0] = "nod does not know your account " + account + ". " + reason
		}
		if d.linking {
			lines[0] += " If nod knows another account of yours, click a button on a card: the reply has a code that links this account."
		}
	}
	if len(c.Channels) > 0 {
		lines = append(lines, "This channel is "+who.Platform+":"+c.Channels[len(c.Channels)-1]+".")
	}
	switch ok, unread := d.mayAnswerIn(ctx, c); {
	case ok:
		lines = append(lines, "You can answer requests here.")
	case len(unread) > 0:
		lines = append(lines, "nod cannot tell now whether you can answer requests here."+unreadable(unread))
	default:
		lines = append(lines, "You cannot answer requests here.")
	}
	return strings.Join(lines, "\n"), nil
}

// unreadable names the sources that nod cannot read now. It is empty if nod can
// read everything.
func unreadable(unread []string) string {
	if len(unread) == 0 {
		return ""
	}
	return " nod cannot read " + strings.Join(unread, ", ") + " now, so requests may be missing here. Try again in a moment."
}

// mayAnswerIn reports whether a person may answer requests that are shown in
// the channel of a command. If not, it also returns the sources that nod cannot
// read.
func (d *Desk) mayAnswerIn(ctx context.Context, c bridge.Command) (bool, []string) {
	var unread []string
	for _, route := range d.engine.Routes() {
		if !(bridge.Placement{Destinations: route.Destinations}).ShownIn(c.Actor.Platform, c.Channels) {
			continue
		}
		_, no := d.engine.People.Eligible(ctx, bridge.Interaction{Placement: bridge.Placement{
			Responders: route.Responders, Groups: route.Groups,
		}}, c.Actor)
		if no.Why == "" {
			return true, nil
		}
		unread = append(unread, bridge.Missing(unread, no.Unread)...)
	}
	return false, unread
}

// link links an account to the person who enters its code.
func (d *Desk) link(ctx context.Context, by bridge.Actor, rest string) (string, error) {
	code, yes, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if !d.linking {
		return "Account linking is off.", nil
	}
	by, _ = d.engine.People.Identify(ctx, by)
	said, err := d.engine.Links.Link(ctx, by, code, strings.EqualFold(strings.TrimSpace(yes), "yes"))
	if c := bridge.ErrorCode(err); c == bridge.CodeNotFound || c == bridge.CodeForbidden {
		return bridge.PublicError(err).Message, nil
	}
	return said, err
}

// list lists the grants that a person may see, with their coverage.
func (d *Desk) list(ctx context.Context, c bridge.Command) (string, error) {
	all, err := d.grants.ListFor(ctx, c.Actor)
	if err != nil {
		return "", err
	}
	note := bridge.Lacks(all.Unreadable, "grant")
	if len(all.Items) == 0 {
		return "There are no grants." + note, nil
	}
	var lines []string
	for _, g := range all.Items {
		lines = append(lines, g.ID()+"  "+g.Words())
	}
	if note != "" {
		lines = append(lines, strings.TrimSpace(note))
	}
	return listed("Grants (standing approvals). To revoke one, send /"+bridge.CommandName+" revoke ID:", lines, c), nil
}

func (d *Desk) revoke(ctx context.Context, by bridge.Actor, id string) (string, error) {
	none := "Grant not found. To list grants, send /" + bridge.CommandName + " grants."
	id, err := d.grant(ctx, by, id)
	if err != nil {
		return notExpanded(err, none)
	}
	g, err := d.grants.RevokeAs(ctx, by, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return none, nil
	}
	if err != nil {
		return "", err
	}
	return revoked(g), nil
}
