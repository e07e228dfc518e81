package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// client is the Slack client of the members. It turns their actions into
// payloads for the app.
type client struct {
	*workspace
	delivery *delivery
}

func userJSON(m core.Account) raw.Object {
	return raw.Object{"id": m.ID, "username": m.Key, "name": m.Name, "team_id": team}
}

func (cl client) press(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
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
	for id, v := range cl.views {
		if v.User == m.ID && cl.triggers[raw.Str(payload, "trigger_id")].IsZero() { // the app used it
			r.Modal = id
		}
	}
	return r, nil
}

func (cl client) blockActions(m core.Account, a core.Action) (raw.Object, error) {
	c := cl.channels[a.Channel]
	if c == nil {
		return nil, cl.Errorf("no channel %q", a.Channel)
	}
	msg := c.Message(a.Message)
	if msg == nil {
		return nil, cl.Errorf("no message %q in %s", a.Message, a.Channel)
	}
	block, element := findElement(raw.Objects(msg, "blocks"), a.Control)
	if element == nil {
		return nil, cl.Errorf("no control %q on message %s", a.Control, a.Message)
	}
	values, err := inputState(raw.Objects(msg, "blocks"), cl.inputs(m, a, raw.Objects(msg, "blocks")))
	if err != nil {
		return nil, err
	}
	action := raw.Object{
		"type": raw.Str(element, "type"), "block_id": raw.Str(block, "block_id"), "action_id": a.Control,
		"text": element["text"], "value": raw.Str(element, "value"), "action_ts": cl.stamp(),
	}
	container := raw.Object{"type": "message", "message_ts": a.Message, "channel_id": c.ID, "is_ephemeral": false}
	if t := raw.Str(msg, "thread_ts"); t != "" {
		container["thread_ts"] = t
	}
	return raw.Object{
		"type": "block_actions", "user": userJSON(m), "api_app_id": app, "token": "deprecated",
		"team": raw.Object{"id": team, "domain": "sandbox"}, "enterprise": nil, "is_enterprise_install": false,
		"container": container, "trigger_id": cl.trigger(m.ID), "channel": raw.Object{"id": c.ID, "name": c.Name},
		"message": raw.Copy(msg), "state": raw.Object{"values": values}, "response_url": cl.newURL(m.ID, c.ID, a.Message),
		"actions": []any{action},
	}, nil
}

// enter fills inputs of a message. The next click of the member submits them.
func (cl client) enter(m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	defer cl.Unlock()
	c := cl.channels[a.Channel]
	if c == nil || c.Message(a.Message) == nil {
		return core.Reaction{}, cl.Errorf("no message %q in %q", a.Message, a.Channel)
	}
	if _, err := inputState(raw.Objects(c.Message(a.Message), "blocks"), a.Values); err != nil {
		return core.Reaction{}, err
	}
	for id, v := range a.Values {
		cl.entered[input{m.ID, a.Channel, a.Message, id}] = v
	}
	return core.Reaction{OK: true}, nil
}

// inputs returns the values that a member entered in a message, with this
// action or earlier. An earlier value counts if its block still has the same
// ID.
func (cl client) inputs(m core.Account, a core.Action, blocks []raw.Object) map[string][]string {
	all := map[string][]string{}
	for _, b := range blocks {
		id := raw.Str(b, "block_id")
		if v, ok := cl.entered[input{m.ID, a.Channel, a.Message, id}]; ok {
			all[id] = v
		}
	}
	maps.Copy(all, a.Values)
	return all
}

func findElement(blocks []raw.Object, actionID string) (block, element raw.Object) {
	for _, block := range blocks {
		for _, o := range raw.Objects(block, "elements") {
			if o != nil && raw.Str(o, "action_id") == actionID {
				return block, o
			}
		}
	}
	return nil, nil
}

// remove deletes a message, as an administrator of the workspace can.
func (cl client) remove(a core.Action) (core.Reaction, error) {
	cl.Lock()
	defer cl.Unlock()
	c := cl.channels[a.Channel]
	if c == nil || c.Find(a.Message) < 0 {
		return core.Reaction{}, cl.Errorf("no message %q in %q", a.Message, a.Channel)
	}
	cl.workspace.remove(c, a.Message)
	return core.Reaction{OK: true}, nil
}

func (cl client) close(a core.Action) (core.Reaction, error) {
	cl.Lock()
	defer cl.Unlock()
	if cl.views[a.View] == nil {
		return core.Reaction{}, fmt.Errorf("no view %q is open", a.View)
	}
	delete(cl.views, a.View)
	cl.Touch()
	return core.Reaction{OK: true}, nil
}

// command sends a slash command. By default, only the member sees the answer.
func (cl client) command(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	name, text, _ := strings.Cut(a.Text, " ")
	cl.Lock()
	c := cl.channels[a.Channel]
	trigger, url := cl.trigger(m.ID), cl.newURL(m.ID, a.Channel, "")
	cl.Unlock()
	if c == nil || !strings.HasPrefix(name, "/") {
		return core.Reaction{}, cl.Errorf("no command %q in %q", a.Text, a.Channel)
	}
	body, err := cl.delivery.deliver(ctx, raw.Object{
		"token": "deprecated", "team_id": team, "team_domain": "sandbox", "channel_id": c.ID, "channel_name": c.Name,
		"user_id": m.ID, "user_name": m.Key, "command": name, "text": text, "api_app_id": app,
		"is_enterprise_install": "false", "response_url": url, "trigger_id": trigger,
	})
	if err != nil {
		return core.Reaction{Warning: name + " failed: " + err.Error()}, nil
	}
	var answer raw.Object
	if len(body) > 0 && json.Unmarshal(body, &answer) != nil {
		return core.Reaction{Warning: name + " failed with the error \"invalid_response\""}, nil
	}
	cl.Lock()
	defer cl.Unlock()
	if raw.Str(answer, "text") != "" || len(raw.List(answer, "blocks")) > 0 {
		msg := raw.Object{"ts": cl.stamp(), "user": BotUser, "type": "message"}
		if bad := content(answer, msg); bad != nil {
			return core.Reaction{Warning: name + " failed with the error \"" + raw.Str(bad, "error") + "\""}, nil
		}
		if raw.Str(answer, "response_type") == "in_channel" {
			c.Add(msg)
		} else {
			c.AddPrivate(m.ID, msg)
		}
		cl.Touch()
	}
	return core.Reaction{OK: true}, nil
}

// openHome opens the app's Home tab: the app receives an event and publishes a
// view.
func (cl client) openHome(ctx context.Context, m core.Account) (core.Reaction, error) {
	_, err := cl.delivery.deliver(ctx, raw.Object{
		"type":       "event_callback",
		"team_id":    team,
		"api_app_id": app,
		"event_id":   "Ev0SANDBOX",
		"event_time": time.Now().Unix(),
		"event": raw.Object{
			"type":     "app_home_opened",
			"user":     m.ID,
			"channel":  "D" + m.ID,
			"tab":      "home",
			"event_ts": "1.1",
		},
	})
	if err != nil {
		return core.Reaction{Warning: "the Home tab stays as it was: " + err.Error()}, nil
	}
	return core.Reaction{OK: true}, nil
}

func (cl client) submit(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	v, payload, errs, err := cl.viewSubmission(m, a)
	if err != nil {
		return core.Reaction{}, err
	}
	if len(errs) > 0 {
		return core.Reaction{Errors: errs}, nil
	}
	answer, err := cl.delivery.deliver(ctx, payload)
	if err != nil {
		return core.Reaction{Warning: "We had some trouble connecting. Try again? (" + err.Error() + ")"}, nil
	}
	return cl.answered(v, answer), nil
}

// viewSubmission returns the payload for the app, or in errs the errors that
// the client finds itself.
func (cl client) viewSubmission(
	m core.Account, a core.Action,
) (v *view, payload raw.Object, errs map[string]string, err error) {
	cl.Lock()
	defer cl.Unlock()
	v = cl.views[a.View]
	if v == nil || v.User != m.ID {
		return nil, nil, nil, cl.Errorf("no view %q is open for %s", a.View, m.Key)
	}
	values, err := inputState(raw.Objects(v.View, "blocks"), a.Values)
	if err != nil {
		return nil, nil, nil, err
	}
	if errs := clientErrors(raw.Objects(v.View, "blocks"), values); len(errs) > 0 {
		return v, nil, errs, nil
	}
	return v, raw.Object{
		"type":                  "view_submission",
		"team":                  raw.Object{"id": team, "domain": "sandbox"},
		"user":                  userJSON(m),
		"api_app_id":            app,
		"token":                 "deprecated",
		"trigger_id":            cl.trigger(m.ID),
		"view":                  v.json(values),
		"response_urls":         []any{},
		"is_enterprise_install": false,
		"enterprise":            nil,
	}, nil, nil
}

const trouble = "We had some trouble connecting. Try again?"

// answered applies the app's answer to a view submission.
func (cl client) answered(v *view, body json.RawMessage) core.Reaction {
	var a struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   raw.Object        `json:"view"`
	}
	if len(body) > 0 && json.Unmarshal(body, &a) != nil {
		return core.Reaction{Warning: trouble}
	}
	cl.Lock()
	defer cl.Unlock()
	defer cl.Touch()
	switch a.Action {
	case "errors":
		for id := range a.Errors {
			known := slices.ContainsFunc(raw.Objects(v.View, "blocks"), func(o raw.Object) bool {
				return raw.Str(o, "block_id") == id && raw.Str(o, "type") == "input"
			})
			if !known {
				return core.Reaction{Warning: trouble}
			}
		}
		v.Errors = a.Errors
		return core.Reaction{Errors: a.Errors}
	case "update", "push":
		if problems := checkModal(a.View); len(problems) > 0 {
			return core.Reaction{Warning: trouble + " " + strings.Join(problems, "; ")}
		}
		v.replace(a.View)
		return core.Reaction{OK: true, Modal: v.ID}
	case "", "clear":
		delete(cl.views, v.ID)
		return core.Reaction{OK: true}
	}
	return core.Reaction{Warning: trouble}
}
