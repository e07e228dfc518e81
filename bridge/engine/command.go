package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

const commandHelp = `pending: what waits in this channel
mine: what waits for you, anywhere
show ID: one request, whole
grants, revoke ID: standing approvals, and ending one
mute, unmute: make this channel read-only for nod, and let it answer again
who: who you are to nod, and what this place is called
link CODE: link an account that I do not know`

const (
	maxShown  = 15
	maxLooked = 200
)

// Command implements Sink.
func (e *Engine) Command(ctx context.Context, c bridge.Command) (string, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch word = strings.ToLower(word); word {
	case "pending", "mine":
		return e.commandPending(ctx, c, word == "mine")
	case "show":
		return e.commandShow(ctx, c, strings.TrimSpace(rest))
	case "who":
		return e.commandWho(ctx, c)
	case "link":
		return e.commandLink(ctx, c.Actor, rest)
	case "grants", "revoke":
		if _, ok, err := e.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels); err != nil || !ok {
			return "Only those who may answer in this channel may do that.", err
		}
		if word == "revoke" {
			return e.commandRevoke(ctx, c.Actor, strings.TrimSpace(rest))
		}
		return e.commandGrants(ctx, c.Actor)
	case "mute", "unmute":
		err := e.SetMuted(ctx, c.Actor, c.Actor.Platform, c.Channels, word == "mute")
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

// commandLink links an account to whoever enters its code.
func (e *Engine) commandLink(ctx context.Context, by bridge.Actor, rest string) (string, error) {
	code, yes, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if e.directory == nil || !e.linking {
		return "Accounts are not linked here.", nil
	}
	var err error
	if by.Person, err = e.directory.Identify(ctx, by); err != nil {
		return "", err
	}
	said, err := e.Link(ctx, by, code, strings.EqualFold(strings.TrimSpace(yes), "yes"))
	if c := bridge.ErrorCode(err); c == bridge.CodeNotFound || c == bridge.CodeForbidden {
		return bridge.PublicError(err).Message, nil
	}
	return said, err
}

// maxGrants bounds the text of a list of grants, in bytes. A grant that does not
// fit is left out whole and counted, as its words must not be cut.
const maxGrants = 1800

// commandGrants lists the grants that a person may see, and what each covers.
func (e *Engine) commandGrants(ctx context.Context, who bridge.Actor) (string, error) {
	all, err := e.GrantsFor(ctx, who)
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

func (e *Engine) commandRevoke(ctx context.Context, by bridge.Actor, id string) (string, error) {
	g, err := e.RevokeAs(ctx, by, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return "There is no grant with that ID. /" + bridge.CommandName + " grants lists them.", nil
	}
	if err != nil {
		return "", err
	}
	return "Revoked. Requests that it covered are asked again: " + g.Words(), nil
}
