package slack

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// client is the Slack client of the members. It turns their actions into
// payloads for the app.
type client struct {
	*workspace
	delivery *delivery
}

// userJSON describes a member in a payload. The caller holds the lock.
func (w *workspace) userJSON(m core.Account) raw.Object {
	return raw.Object{"id": m.ID, "username": m.Key, "name": m.Name, "team_id": w.teamOf(m)}
}

// A stage is the surface that a member uses: a message, a modal or a Home tab.
type stage struct {
	input                // the key is empty
	blocks  []raw.Object // all blocks
	channel *core.Chat   // conversation of a message
	message raw.Object
	private bool  // only this member sees the message
	view    *view // nil for a message
}

// stage finds the surface of an action.
func (cl client) stage(m core.Account, a core.Action) (stage, error) {
	if a.View != "" {
		v := cl.find(a.View)
		if v == nil || v.User != m.ID {
			return stage{}, cl.Errorf("no view %q is open for %s", a.View, m.Key)
		}
		return stage{input: input{m.ID, v.ID, ""}, blocks: raw.Objects(v.View, "blocks"), view: v}, nil
	}
	c := cl.Chats[a.Channel]
	if c == nil {
		return stage{}, cl.Errorf("no channel %q", a.Channel)
	}
	msg := c.Seen(a.Message, m.ID)
	if msg == nil {
		return stage{}, cl.Errorf("no message %q in %s", a.Message, a.Channel)
	}
	return stage{
		input: input{m.ID, c.ID + "/" + a.Message, ""}, blocks: raw.Objects(msg, "blocks"),
		channel: c, message: msg, private: c.Message(a.Message) == nil,
	}, nil
}

// remember stores the values that a member enters. It returns an error if the
// client does not let the member enter them.
func (cl client) remember(s stage, values map[string][]string) error {
	if _, err := cl.state(slots(s.blocks), values, cl.choicesOf(s.input)); err != nil {
		return err
	}
	for key, v := range values {
		s.key = key
		cl.entered[s.input] = v
	}
	return nil
}

// values returns the state of the inputs of a stage. A value that a member
// entered counts if its input still accepts it.
func (cl client) values(s stage) (raw.Object, error) {
	given := map[string][]string{}
	all := slots(s.blocks)
	for _, in := range all {
		s.key = in.key
		v, ok := cl.entered[s.input]
		if !ok {
			continue
		}
		if _, err := cl.elementState(in.element, v, true, cl.choicesOf(s.input)(in)); err == nil {
			given[in.key] = v
		}
	}
	return cl.state(all, given, cl.choicesOf(s.input))
}

// enter fills inputs. The next click of the member sends them.
func (cl client) enter(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	if err := cl.suggest(ctx, m, a); err != nil {
		return core.Reaction{}, err
	}
	cl.Lock()
	defer cl.Unlock()
	s, err := cl.stage(m, a)
	if err == nil {
		err = cl.remember(s, a.Values)
	}
	return core.Reaction{OK: err == nil}, err
}

// press clicks a button, or changes an element that sends each change.
func (cl client) press(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	if err := cl.suggest(ctx, m, a); err != nil {
		return core.Reaction{}, err
	}
	cl.Lock()
	payload, err := cl.blockActions(m, a)
	cl.Unlock()
	if err != nil {
		return core.Reaction{}, err
	}
	if _, err := cl.delivery.deliver(ctx, payload); err != nil {
		return core.Reaction{Warning: "This app responded with an error: " + err.Error()}, nil
	}
	cl.Lock()
	defer cl.Unlock()
	r := core.Reaction{OK: true}
	if top := cl.top(m.ID); top != nil && cl.triggers[raw.Str(payload, "trigger_id")].used {
		r.Modal = top.ID
	}
	return r, nil
}

// payload returns the fields that all payloads about a member have. The caller
// holds the lock.
func (cl client) payload(kind string, m core.Account) raw.Object {
	return raw.Object{
		"type": kind, "user": cl.userJSON(m), "api_app_id": app, "token": "deprecated",
		"team": raw.Object{"id": team, "domain": "sandbox"}, "enterprise": nil, "is_enterprise_install": false,
	}
}

func (cl client) blockActions(m core.Account, a core.Action) (raw.Object, error) {
	s, err := cl.stage(m, a)
	if err != nil {
		return nil, err
	}
	found, ok := findControl(s.blocks, a.Control)
	if !ok {
		return nil, cl.Errorf("no control %q on %s", a.Control, s.on)
	}
	given := maps.Clone(a.Values)
	if option := found.option(given); option != nil {
		delete(given, raw.Str(found.block, "block_id")) // the chosen option of a menu that keeps no state
	}
	if err := cl.remember(s, given); err != nil {
		return nil, err
	}
	values, err := cl.values(s)
	if err != nil {
		return nil, err
	}
	payload := cl.payload("block_actions", m)
	payload["trigger_id"], payload["actions"] = cl.trigger(m.ID), []any{found.action(cl.stamp(), values, a.Values)}
	cl.describe(payload, m, s, values)
	return payload, nil
}

// describe adds the clicked surface to a payload.
func (cl client) describe(payload raw.Object, m core.Account, s stage, values raw.Object) {
	if s.view != nil {
		payload["container"] = raw.Object{"type": "view", "view_id": s.view.ID}
		payload["view"] = s.view.json(values)
		return
	}
	ts := raw.Str(s.message, "ts")
	container := raw.Object{"type": "message", "message_ts": ts, "channel_id": s.channel.ID, "is_ephemeral": s.private}
	if t := raw.Str(s.message, "thread_ts"); t != "" {
		container["thread_ts"] = t
	}
	payload["container"], payload["channel"] = container, raw.Object{"id": s.channel.ID, "name": s.channel.Name}
	payload["state"] = raw.Object{"values": values}
	payload["response_url"] = cl.newURL(m.ID, s.channel.ID, ts)
	if !s.private { // Slack does not include ephemeral messages
		payload["message"] = raw.Copy(s.message)
	}
}

// suggest asks the app for the options of external selects, like a client while
// a member types. The entered text chooses the option with that value or that
// label, or otherwise the first option.
func (cl client) suggest(ctx context.Context, m core.Account, a core.Action) error {
	cl.Lock()
	s, err := cl.stage(m, a)
	all := slots(s.blocks)
	cl.Unlock()
	if err != nil {
		return err
	}
	for _, in := range all {
		if !strings.Contains(raw.Str(in.element, "type"), "external") {
			continue
		}
		for n, text := range a.Values[in.key] {
			options, err := cl.suggestions(ctx, m, s, in, text)
			if err != nil {
				return err
			}
			cl.Lock()
			s.key = in.key
			cl.suggested[s.input] = append(cl.suggested[s.input], options...)
			cl.Unlock()
			if best := closest(options, text); best != "" {
				a.Values[in.key][n] = best
			}
		}
	}
	return nil
}

// suggestions asks the app for the options that match a text.
func (cl client) suggestions(ctx context.Context, m core.Account, s stage, in slot, text string) ([]raw.Object, error) {
	cl.Lock()
	payload := cl.payload("block_suggestion", m)
	payload["action_id"], payload["block_id"], payload["value"] = raw.Str(in.element, "action_id"), raw.Str(in.block, "block_id"), text
	cl.describe(payload, m, s, raw.Object{})
	delete(payload, "response_url")
	delete(payload, "state")
	cl.Unlock()
	body, err := cl.delivery.deliver(ctx, payload)
	if err != nil {
		return nil, cl.Errorf("no options: %w", err)
	}
	var answer raw.Object
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, cl.Errorf("no options: %w", err)
	}
	answer["type"] = "external_select"
	c := checker{}
	if manyChoices(&c, "", answer); len(c.problems) > 0 && len(core.Options(answer)) > 0 {
		return nil, cl.Errorf("bad options: %s", strings.Join(c.problems, "; "))
	}
	return core.Options(answer), nil
}

// closest returns the value of the option that a text refers to, or "".
func closest(options []raw.Object, text string) string {
	best := ""
	for _, o := range options {
		value, label := raw.Str(o, "value"), raw.Str(raw.Sub(o, "text"), "text")
		if value == text || label == text {
			return value
		}
		if best == "" {
			best = value
		}
	}
	return best
}
