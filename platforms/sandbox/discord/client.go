package discord

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// client is the Discord client of the members. It turns their actions into
// interactions.
type client struct {
	*guild
	gateway      *gateway
	interactions interactionsAPI
}

func (cl client) act(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	payload, i, err := cl.begun(m, a)
	if err != nil || i == nil {
		return core.Reaction{OK: err == nil}, err
	}
	if err := cl.deliver(ctx, payload, i); err != nil {
		return core.Reaction{Warning: "This interaction failed (" + err.Error() + ")"}, nil
	}
	cl.Lock()
	defer cl.Unlock()
	return i.Reaction, nil
}

// begun returns the interaction that an action starts, or nil if the app does
// not receive the action.
func (cl client) begun(m core.Account, a core.Action) (raw.Object, *interaction, error) {
	cl.Lock()
	defer cl.Unlock()
	switch a.Do {
	case "press", "choose":
		return cl.component(m, a)
	case "submit":
		return cl.modalSubmit(m, a)
	case "command", "suggest":
		return cl.command(m, a, a.Do == "suggest")
	case "send", "reply":
		return nil, nil, cl.talk(m, a)
	case "edit":
		return nil, nil, cl.edit(m, a)
	case "delete":
		return nil, nil, cl.remove(a)
	case "thread":
		return nil, nil, cl.moderate(a)
	case "embeds":
		cl.preferEmbeds(m, a.Text != "off")
		return nil, nil, nil
	case "close":
		if cl.modals[a.View] == nil {
			return nil, nil, cl.Errorf("no modal %q is open", a.View)
		}
		delete(cl.modals, a.View)
		cl.Touch()
		return nil, nil, nil
	}
	return nil, nil, cl.CannotDo(a.Do)
}

func (cl client) begin(m core.Account, channel, message string, kind int) *interaction {
	i := &interaction{
		ID: cl.snowflake(), Token: uuid.NewString() + uuid.NewString(), User: m.ID, Channel: channel, Message: message,
		Kind: kind, Created: cl.Clock.Now(), Responded: make(chan struct{}),
	}
	cl.guild.interactions[i.Token] = i
	return i
}

func (cl client) payload(m core.Account, i *interaction, ch *channel, data, message raw.Object) raw.Object {
	user := userJSON(m)
	p := raw.Object{
		"id": i.ID, "application_id": Application, "type": i.Kind, "token": i.Token, "version": 1, "channel_id": ch.ID,
		"channel": ch.json(), "data": data, "locale": "en-US", "app_permissions": strconv.FormatInt(cl.permissions(), 10),
		"entitlements": []any{}, "authorizing_integration_owners": raw.Object{},
		"attachment_size_limit": 10 << 20,
	}
	if message != nil {
		p["message"] = raw.Copy(message)
	}
	if ch.Kind == directChannel {
		p["user"], p["context"] = user, 1
		return p
	}
	p["guild_id"], p["context"] = Guild, 0
	p["guild"] = raw.Object{"id": Guild, "locale": "en-US", "features": []any{}}
	p["member"] = raw.Object{
		"user": user, "roles": cl.GroupsOf(m), "permissions": "0", "nick": nil, "joined_at": "2026-01-01T00:00:00Z",
		"deaf": false, "mute": false, "flags": 0,
	}
	return p
}

func (cl client) component(m core.Account, a core.Action) (raw.Object, *interaction, error) {
	ch := cl.channels[a.Channel]
	if ch == nil {
		return nil, nil, cl.Errorf("no channel %q", a.Channel)
	}
	msg := ch.Seen(a.Message, m.ID)
	if msg == nil {
		return nil, nil, cl.Errorf("no message %q in %s", a.Message, a.Channel)
	}
	c := findComponent(msg, a.Control)
	if c == nil || c["disabled"] == true || a.Do == "press" != (kindOf(c) == button) {
		return nil, nil, cl.Errorf("no control %q on message %s", a.Control, a.Message)
	}
	data := raw.Object{"custom_id": a.Control, "component_type": kindOf(c), "id": c["id"]}
	if kind := kindOf(c); kind == stringSelect || picksEntity(kind) {
		values, err := chosen(cl.withOptions(c), a.Values[a.Control])
		if err != nil {
			return nil, nil, cl.Errorf("%w", err)
		}
		data["values"] = values
		if resolved := (raw.Object{}); picksEntity(kind) {
			cl.resolve(resolved, kind, values)
			data["resolved"] = resolved
		}
	}
	i := cl.begin(m, ch.ID, a.Message, componentUsed)
	return cl.payload(m, i, ch, data, msg), i, nil
}

func findComponent(m raw.Object, customID string) raw.Object {
	for _, o := range components(raw.List(m, "components")) {
		if raw.Str(o, "custom_id") == customID {
			return o
		}
	}
	return nil
}

func (cl client) modalSubmit(m core.Account, a core.Action) (raw.Object, *interaction, error) {
	shown := cl.modals[a.View]
	if shown == nil || shown.User != m.ID {
		return nil, nil, cl.Errorf("no modal %q is open for %s", a.View, m.Key)
	}
	filled, resolved, err := cl.fill(raw.Objects(shown.Data, "components"), a.Values)
	if err != nil {
		return nil, nil, cl.Errorf("%w", err)
	}
	delete(cl.modals, a.View)
	cl.Touch()
	ch := cl.channels[shown.Channel]
	i := cl.begin(m, ch.ID, raw.Str(shown.Message, "id"), modalSubmitted)
	data := raw.Object{"custom_id": raw.Str(shown.Data, "custom_id"), "components": filled}
	if len(resolved) > 0 {
		data["resolved"] = resolved
	}
	return cl.payload(m, i, ch, data, shown.Message), i, nil
}
