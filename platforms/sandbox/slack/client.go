package slack

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// payload returns the fields that all payloads about a member have. The caller
// holds the lock.
func (e *Emulator) payload(kind string, m core.Account) raw.Object {
	user := raw.Object{"id": m.ID, "username": m.Key, "name": m.Name, "team_id": e.teamOf(m)}
	return raw.Object{
		"type": kind, "user": user, "api_app_id": app, "token": "deprecated",
		"team": raw.Object{"id": team, "domain": "sandbox"}, "enterprise": nil, "is_enterprise_install": false,
	}
}

// input identifies an element for a member: on a message, by its channel and
// timestamp, or on a view. Clients keep the entered value while the IDs of the
// block and the element stay the same.
type input struct{ user, on, key string }

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
func (e *Emulator) stage(m core.Account, a core.Action) (stage, error) {
	if a.View != "" {
		v := e.find(a.View)
		if v == nil || v.User != m.ID {
			return stage{}, e.Errorf("no view %q is open for %s", a.View, m.Key)
		}
		return stage{input: input{m.ID, v.ID, ""}, blocks: raw.Objects(v.View, "blocks"), view: v}, nil
	}
	c := e.Chats[a.Channel]
	if c == nil {
		return stage{}, e.Errorf("no channel %q", a.Channel)
	}
	msg := c.Seen(a.Message, m.ID)
	if msg == nil {
		return stage{}, e.Errorf("no message %q in %s", a.Message, a.Channel)
	}
	return stage{
		input: input{m.ID, c.ID + "/" + a.Message, ""}, blocks: raw.Objects(msg, "blocks"),
		channel: c, message: msg, private: c.Message(a.Message) == nil,
	}, nil
}

// filled stores the values that a member enters, and returns the state of the
// inputs of the stage. It returns an error if the client does not let the
// member enter them. An earlier value counts if its input still accepts it.
func (e *Emulator) filled(s stage, values map[string][]string) (raw.Object, error) {
	all := slots(s.blocks)
	if _, err := e.state(all, values); err != nil {
		return nil, err
	}
	for key, v := range values {
		s.key = key
		e.entered[s.input] = v
	}
	given := map[string][]string{}
	for _, in := range all {
		s.key = in.key
		if v, ok := e.entered[s.input]; ok {
			if _, err := e.elementState(in.element, v); err == nil {
				given[in.key] = v
			}
		}
	}
	return e.state(all, given)
}

// enter fills inputs. The next click of the member sends them.
func (e *Emulator) enter(m core.Account, a core.Action) (deed, error) {
	s, err := e.stage(m, a)
	if err == nil {
		_, err = e.filled(s, a.Values)
	}
	return deed{}, err
}

// press clicks a button, or changes an element that sends each change.
func (e *Emulator) press(m core.Account, a core.Action) (deed, error) {
	s, err := e.stage(m, a)
	if err != nil {
		return deed{}, err
	}
	found, ok := findControl(s.blocks, a.Control)
	if !ok {
		return deed{}, e.Errorf("no control %q on %s", a.Control, s.on)
	}
	given := maps.Clone(a.Values)
	if option := found.option(given); option != nil {
		delete(given, raw.Str(found.block, "block_id")) // the chosen option of a menu that keeps no state
	}
	values, err := e.filled(s, given)
	if err != nil {
		return deed{}, err
	}
	payload, trigger := e.payload("block_actions", m), e.trigger(m.ID)
	payload["trigger_id"], payload["actions"] = trigger, []any{found.action(e.stamp(), values, a.Values)}
	e.describe(payload, m, s, values)
	return deed{[]raw.Object{payload}, func(_ json.RawMessage, err error) core.Reaction {
		if err != nil {
			return core.Reaction{Warning: "This app responded with an error: " + err.Error()}
		}
		r := core.Reaction{OK: true}
		if e.triggers[trigger].used {
			r.Modal = e.shown(m)
		}
		return r
	}}, nil
}

// describe adds the clicked surface to a payload.
func (e *Emulator) describe(payload raw.Object, m core.Account, s stage, values raw.Object) {
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
	payload["response_url"] = e.newURL(m.ID, s.channel.ID)
	if !s.private { // Slack does not include ephemeral messages
		payload["message"] = raw.Copy(s.message)
	}
}

// close closes a modal. With the text all, it closes every modal, like the X.
// The app does not learn of it.
func (e *Emulator) close(m core.Account, a core.Action) (deed, error) {
	v := e.find(a.View)
	if v == nil || v.User != m.ID || raw.Str(v.View, "type") != "modal" {
		return deed{}, e.Errorf("no view %q is open for %s", a.View, m.Key)
	}
	if a.Text == "all" {
		v = e.stacks[m.ID][0]
	}
	e.pop(v)
	e.Touch()
	r := core.Reaction{OK: true, Modal: e.shown(m)}
	return deed{react: func(json.RawMessage, error) core.Reaction { return r }}, nil
}

// submit submits a modal, unless the client itself finds errors.
func (e *Emulator) submit(m core.Account, a core.Action) (deed, error) {
	v := e.top(m.ID)
	if v == nil || v.ID != a.View {
		return deed{}, e.Errorf("no view %q is open for %s", a.View, m.Key)
	}
	s, err := e.stage(m, a)
	if err != nil {
		return deed{}, err
	}
	values, err := e.filled(s, a.Values)
	if err != nil {
		return deed{}, err
	}
	if errs := clientErrors(s.blocks, values); len(errs) > 0 {
		return deed{react: func(json.RawMessage, error) core.Reaction { return core.Reaction{Errors: errs} }}, nil
	}
	payload := e.payload("view_submission", m)
	payload["trigger_id"], payload["view"], payload["response_urls"] = e.trigger(m.ID), v.json(values), []any{}
	return deed{[]raw.Object{payload}, func(answer json.RawMessage, err error) core.Reaction {
		if err != nil {
			return core.Reaction{Warning: trouble + " (" + err.Error() + ")"}
		}
		return e.answered(m, v, answer)
	}}, nil
}

const trouble = "We had some trouble connecting. Try again?"

// answered applies the app's response to a view submission.
func (e *Emulator) answered(m core.Account, v *view, body json.RawMessage) core.Reaction {
	var a struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   raw.Object        `json:"view"`
	}
	if len(body) > 0 && json.Unmarshal(body, &a) != nil {
		return core.Reaction{Warning: trouble}
	}
	defer e.Touch()
	switch a.Action {
	case "errors":
		return v.refuse(a.Errors)
	case "update", "push":
		if problems := checkView(a.View, "modal"); len(problems) > 0 {
			return core.Reaction{Warning: trouble + " " + strings.Join(problems, "; ")}
		}
		if a.Action == "update" {
			v.replace(a.View)
		} else if e.push(m.ID, a.View) == nil {
			return core.Reaction{Warning: trouble + " push_limit_reached"}
		}
	case "":
		e.pop(v)
	case "clear":
		delete(e.stacks, m.ID)
	default:
		return core.Reaction{Warning: trouble}
	}
	return core.Reaction{OK: true, Modal: e.shown(m)}
}

// refuse shows errors next to the inputs of a view. The client shows a warning
// instead if a key is not the block ID of an input.
func (v *view) refuse(errs map[string]string) core.Reaction {
	for id := range errs {
		known := slices.ContainsFunc(raw.Objects(v.View, "blocks"), func(o raw.Object) bool {
			return raw.Str(o, "block_id") == id && raw.Str(o, "type") == "input"
		})
		if !known {
			return core.Reaction{Warning: trouble}
		}
	}
	v.Errors = errs
	return core.Reaction{Errors: errs}
}
