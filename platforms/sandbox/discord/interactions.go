package discord

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Kinds of interactions.
const (
	commandUsed       = 2
	componentUsed     = 3
	suggestionsWanted = 4
	modalSubmitted    = 5
)

// interaction is an action of a member that waits for a response.
type interaction struct {
	ID, Token string
	User      string
	Channel   string
	Message   string // ID of the message of the component
	Kind      int
	payload   raw.Object
	to        []*session // sessions that got it
	Created   time.Time
	Responded chan struct{} // closed by the first response
	done      bool
	Reaction  core.Reaction
	Original  string // ID of the message that the response created or updated
}

func (e *Emulator) callback(c *call) any {
	i := e.interactions[c.PathValue("token")]
	if i == nil || i.ID != c.PathValue("id") {
		return unknownInteraction
	}
	if c.rival { // another program with the bot's token responded first
		if bad := e.respond(i, sent{args: raw.Object{"type": float64(respondDeferredEdits), "data": raw.Object{}}}); bad != nil {
			return bad
		}
	}
	if bad := e.respond(i, c.sent()); bad != nil {
		return bad
	}
	if c.URL.Query().Get("with_response") != "true" {
		return nil
	}
	answer := raw.Object{"interaction": raw.Object{"id": i.ID, "type": i.Kind, "response_message_id": i.Original}}
	if kind := raw.Int(c.args["type"]); kind == respondMessage || kind == respondUpdate || kind == respondDeferred {
		answer["resource"] = raw.Object{"type": kind, "message": raw.Clone(e.channels[i.Channel].Seen(i.Original, i.User))}
	}
	return answer
}

// Kinds of responses.
const (
	respondMessage       = 4
	respondDeferred      = 5
	respondDeferredEdits = 6
	respondUpdate        = 7
	respondSuggestions   = 8
	respondModal         = 9
)

// respond applies the first response to an interaction.
func (e *Emulator) respond(i *interaction, in sent) *failure {
	if i.done {
		return acknowledged
	}
	if e.Clock.Since(i.Created) > responseTTL {
		return unknownInteraction
	}
	if e.channels[i.Channel] == nil { // the thread was deleted
		return unknownChannel
	}
	kind := raw.Int(in.args["type"])
	if allowed := i.responses(); !slices.Contains(allowed, kind) {
		return invalid("type", "BASE_TYPE_CHOICES", fmt.Sprintf("Value must be one of %v.", allowed))
	}
	in.args = raw.Sub(in.args, "data")
	var bad *failure
	switch kind {
	case respondMessage:
		var m raw.Object
		m, bad = e.createFor(i, in)
		i.Original = raw.Str(m, "id")
	case respondDeferred:
		i.Original = e.wait(i, flags(in.args)&ephemeral)
	case respondDeferredEdits:
		i.Original = i.Message
	case respondUpdate:
		_, bad = e.amend(i, i.Message, in)
		i.Original = i.Message
	case respondModal:
		bad = e.openModal(i, in.args)
	case respondSuggestions:
		bad = e.suggest(i, in.args)
	}
	if bad != nil {
		return bad
	}
	i.done, i.Reaction.OK = true, true
	close(i.Responded)
	e.Touch()
	return nil
}

// responses returns the kinds of responses that an interaction accepts.
func (i *interaction) responses() []int {
	switch {
	case i.Kind == suggestionsWanted:
		return []int{respondSuggestions}
	case i.Kind == componentUsed:
		return []int{respondMessage, respondDeferred, respondDeferredEdits, respondUpdate, respondModal}
	case i.Kind == commandUsed:
		return []int{respondMessage, respondDeferred, respondModal}
	case i.Message == "": // a modal that a command opened
		return []int{respondMessage, respondDeferred}
	}
	return []int{respondMessage, respondDeferred, respondDeferredEdits, respondUpdate}
}

// wait shows that the app is thinking. It returns the ID of the message that a
// later edit of the response turns into the answer.
func (e *Emulator) wait(i *interaction, private int) string {
	ch := e.channels[i.Channel]
	m := e.blank(ch)
	m["flags"] = float64(loading | private)
	e.show(ch, i, m)
	return raw.Str(m, "id")
}

// show adds the message of an interaction. Only the member sees it if it is
// ephemeral.
func (e *Emulator) show(ch *channel, i *interaction, m raw.Object) {
	if flags(m)&ephemeral != 0 {
		ch.AddPrivate(i.User, m)
	} else {
		ch.Add(m)
	}
}

// amend edits a message that the member of an interaction sees.
func (e *Emulator) amend(i *interaction, id string, in sent) (raw.Object, *failure) {
	ch := e.channels[i.Channel]
	m := ch.Seen(id, i.User)
	if m == nil {
		return nil, unknownMessage
	}
	return m, e.apply(ch, m, in, true)
}

// openModal shows a modal. A client shows one modal at a time.
func (e *Emulator) openModal(i *interaction, data raw.Object) *failure {
	if bad := modalShape.check("data", data, true); bad != nil {
		return bad
	}
	for id, m := range e.modals {
		if m.User == i.User {
			delete(e.modals, id)
		}
	}
	id := "M" + strconv.FormatInt(e.Next(), 10)
	numberComponents(raw.List(data, "components"))
	from := e.channels[i.Channel].Seen(i.Message, i.User)
	e.modals[id] = &modal{ID: id, User: i.User, Channel: i.Channel, Data: data, Message: from}
	i.Reaction.Modal = id
	return nil
}

// createFor posts a message for an interaction, privately if its flags say so.
func (e *Emulator) createFor(i *interaction, in sent) (raw.Object, *failure) {
	ch := e.channels[i.Channel]
	m := e.blank(ch)
	if in.args == nil {
		in.args = raw.Object{}
	}
	if _, ok := in.args["allowed_mentions"]; !ok {
		in.args["allowed_mentions"] = raw.Object{"parse": []any{"users"}}
	}
	if bad := e.apply(ch, m, in, false); bad != nil {
		return nil, bad
	}
	e.show(ch, i, m)
	return m, nil
}

// live returns the interaction of a token that is still valid.
func (e *Emulator) live(c *call) (*interaction, *failure) {
	i := e.interactions[c.PathValue("token")]
	if i == nil || c.PathValue("app") != Application || e.Clock.Since(i.Created) > tokenTTL || !i.done {
		return nil, badToken
	}
	if e.channels[i.Channel] == nil {
		return nil, unknownChannel
	}
	return i, nil
}

func (e *Emulator) followUp(c *call) any {
	i, bad := e.live(c)
	if bad != nil {
		return bad
	}
	ch := e.channels[i.Channel]
	m := ch.Seen(i.Original, i.User)
	// The first follow-up replaces the message that says that the app is thinking.
	if m != nil && flags(m)&loading != 0 {
		bad = e.apply(ch, m, c.sent(), true)
	} else {
		m, bad = e.createFor(i, c.sent())
	}
	if bad != nil {
		return bad
	}
	e.Touch()
	return raw.Clone(m)
}

// editResponse edits the message in the request. The ID @original stands for the
// response.
func (e *Emulator) editResponse(c *call) any {
	i, bad := e.live(c)
	if bad != nil {
		return bad
	}
	id := c.PathValue("message")
	if id == "@original" {
		id = i.Original
	}
	m, bad := e.amend(i, id, c.sent())
	if bad != nil {
		return bad
	}
	return raw.Clone(m)
}
