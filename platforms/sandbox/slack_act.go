package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

func (w *slackWorld) act(ctx context.Context, m Member, a Action) (Reaction, error) {
	switch a.Do {
	case "press":
		return w.press(ctx, m, a)
	case "submit":
		return w.submit(ctx, m, a)
	case "command":
		return w.command(ctx, m, a)
	case "home":
		return w.openHome(ctx, m)
	case "close":
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		if w.views[a.View] == nil {
			return Reaction{}, fmt.Errorf("no view %q is open", a.View)
		}
		delete(w.views, a.View)
		w.s.touch()
		return Reaction{OK: true}, nil
	}
	return Reaction{}, fmt.Errorf("slack: can not %q", a.Do)
}

func (w *slackWorld) trigger(user string) string {
	id := strconv.FormatInt(w.s.next(), 10) + "." + user + "." + uuid.NewString()
	w.triggers[id] = time.Now().Add(w.s.opts.TriggerTTL)
	return id
}

func userOfTrigger(id string) string {
	parts := strings.Split(id, ".")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func slackUser(m Member) object {
	return object{"id": m.Slack, "username": m.Key, "name": m.Name, "team_id": "T0SANDBOX"}
}

func (w *slackWorld) press(ctx context.Context, m Member, a Action) (Reaction, error) {
	w.s.mu.Lock()
	payload, err := w.blockActions(m, a)
	w.s.mu.Unlock()
	if err != nil {
		return Reaction{}, err
	}
	if _, err := w.deliver(ctx, payload); err != nil {
		return Reaction{Warning: "This app responded with an error: " + err.Error()}, nil
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	r := Reaction{OK: true}
	for id, v := range w.views {
		if v.User == m.Slack && str(payload, "trigger_id") != "" && w.triggers[str(payload, "trigger_id")].IsZero() {
			r.Modal = id
		}
	}
	return r, nil
}

func (w *slackWorld) blockActions(m Member, a Action) (object, error) {
	c := w.channels[a.Channel]
	if c == nil {
		return nil, fmt.Errorf("slack: no channel %q", a.Channel)
	}
	n := c.find(a.Message)
	if n < 0 {
		return nil, fmt.Errorf("slack: no message %q in %s", a.Message, a.Channel)
	}
	msg := c.Messages[n]
	block, element := findElement(list(msg, "blocks"), a.Control)
	if element == nil {
		return nil, fmt.Errorf("slack: no control %q on message %s", a.Control, a.Message)
	}
	values, err := slackState(list(msg, "blocks"), a.Values)
	if err != nil {
		return nil, err
	}
	action := object{
		"type": str(element, "type"), "block_id": str(block, "block_id"), "action_id": a.Control, "text": element["text"],
		"value": str(element, "value"), "action_ts": w.stamp(),
	}
	container := object{"type": "message", "message_ts": a.Message, "channel_id": c.ID, "is_ephemeral": false}
	if t := str(msg, "thread_ts"); t != "" {
		container["thread_ts"] = t
	}
	key := uuid.NewString()
	w.urls[key] = slackURL{user: m.Slack, channel: c.ID, ts: a.Message, expires: time.Now().Add(30 * time.Minute)}
	return object{
		"type": "block_actions", "user": slackUser(m), "api_app_id": "A0SANDBOX", "token": "deprecated",
		"team": object{"id": "T0SANDBOX", "domain": "sandbox"}, "enterprise": nil, "is_enterprise_install": false,
		"container": container, "trigger_id": w.trigger(m.Slack), "channel": object{"id": c.ID, "name": c.Name},
		"message": cloneObject(msg), "state": object{"values": values}, "response_url": "/slack/response/" + key,
		"actions": []any{action},
	}, nil
}

func findElement(blocks []any, actionID string) (object, object) {
	for _, b := range blocks {
		block, _ := b.(object)
		for _, e := range list(block, "elements") {
			if o, _ := e.(object); o != nil && str(o, "action_id") == actionID {
				return block, o
			}
		}
	}
	return nil, nil
}

// slackState is the state of every stateful element: what the member put in,
// else its initial value.
func slackState(blocks []any, given map[string][]string) (object, error) {
	values := object{}
	known := map[string]bool{}
	for _, b := range blocks {
		block, _ := b.(object)
		elements := list(block, "elements")
		if e := sub(block, "element"); e != nil {
			elements = []any{e}
		}
		for _, e := range elements {
			o, _ := e.(object)
			id := str(block, "block_id")
			known[id] = true
			v, err := elementState(o, given[id], given[id] != nil)
			if err != nil {
				return nil, fmt.Errorf("slack: %s: %w", id, err)
			}
			if v != nil {
				values[id] = object{str(o, "action_id"): v}
			}
		}
	}
	for id := range given {
		if !known[id] {
			return nil, fmt.Errorf("slack: there is no input %q", id)
		}
	}
	return values, nil
}

func elementState(e object, given []string, set bool) (object, error) {
	kind := str(e, "type")
	options := list(e, "options")
	for _, g := range list(e, "option_groups") {
		o, _ := g.(object)
		options = append(options, list(o, "options")...)
	}
	pick := func(value string) (any, error) {
		for _, o := range options {
			if oo, _ := o.(object); str(oo, "value") == value {
				return clone(o), nil
			}
		}
		return nil, fmt.Errorf("no option %q", value)
	}
	switch kind {
	case "plain_text_input":
		if !set {
			if v := str(e, "initial_value"); v != "" {
				return object{"type": kind, "value": v}, nil
			}
			return object{"type": kind, "value": nil}, nil
		}
		text := strings.Join(given, "")
		if most, ok := number(e, "max_length"); ok && runes(text) > int(most) {
			return nil, fmt.Errorf("longer than %v characters", most)
		}
		if text == "" {
			return object{"type": kind, "value": nil}, nil
		}
		return object{"type": kind, "value": text}, nil
	case "number_input", "email_text_input", "url_text_input", "datepicker", "timepicker":
		return typedState(kind, e, given, set)
	case "static_select", "radio_buttons":
		if !set {
			return object{"type": kind, "selected_option": e["initial_option"]}, nil
		}
		if len(given) == 0 {
			return object{"type": kind, "selected_option": nil}, nil
		}
		o, err := pick(given[0])
		return object{"type": kind, "selected_option": o}, err
	case "multi_static_select", "checkboxes":
		if !set {
			return object{"type": kind, "selected_options": append([]any{}, list(e, "initial_options")...)}, nil
		}
		chosen := []any{}
		for _, v := range given {
			o, err := pick(v)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, o)
		}
		return object{"type": kind, "selected_options": chosen}, nil
	}
	return nil, nil
}

func (w *slackWorld) submit(ctx context.Context, m Member, a Action) (Reaction, error) {
	w.s.mu.Lock()
	v := w.views[a.View]
	if v == nil || v.User != m.Slack {
		w.s.mu.Unlock()
		return Reaction{}, fmt.Errorf("slack: no view %q is open for %s", a.View, m.Key)
	}
	values, err := slackState(list(v.View, "blocks"), a.Values)
	if err != nil {
		w.s.mu.Unlock()
		return Reaction{}, err
	}
	if errs := clientErrors(list(v.View, "blocks"), values); len(errs) > 0 {
		w.s.mu.Unlock()
		return Reaction{Errors: errs}, nil // the client checks this on its own
	}
	payload := object{
		"type": "view_submission", "team": object{"id": "T0SANDBOX", "domain": "sandbox"}, "user": slackUser(m), "api_app_id": "A0SANDBOX",
		"token": "deprecated", "trigger_id": w.trigger(m.Slack), "view": w.viewJSON(v, values), "response_urls": []any{},
		"is_enterprise_install": false, "enterprise": nil,
	}
	w.s.mu.Unlock()
	answer, err := w.deliver(ctx, payload)
	if err != nil {
		return Reaction{Warning: "We had some trouble connecting. Try again? (" + err.Error() + ")"}, nil
	}
	return w.answered(v, answer), nil
}

func requiredErrors(blocks []any, values object) map[string]string {
	errs := map[string]string{}
	for _, b := range blocks {
		block, _ := b.(object)
		if str(block, "type") != "input" || block["optional"] == true {
			continue
		}
		state := sub(sub(values, str(block, "block_id")), str(sub(block, "element"), "action_id"))
		if state["value"] == nil && state["selected_option"] == nil && state["selected_date"] == nil && state["selected_time"] == nil && len(list(state, "selected_options")) == 0 {
			errs[str(block, "block_id")] = "Please complete this required field."
		}
	}
	return errs
}

// answered applies an app's answer to a view submission.
func (w *slackWorld) answered(v *slackView, raw json.RawMessage) Reaction {
	var a struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   object            `json:"view"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &a) != nil {
		return Reaction{Warning: "We had some trouble connecting. Try again?"}
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	defer w.s.touch()
	switch a.Action {
	case "errors":
		for id := range a.Errors {
			known := slices.ContainsFunc(list(v.View, "blocks"), func(b any) bool {
				o, _ := b.(object)
				return str(o, "block_id") == id && str(o, "type") == "input"
			})
			if !known {
				return Reaction{Warning: "We had some trouble connecting. Try again?"}
			}
		}
		v.Errors = a.Errors
		return Reaction{Errors: a.Errors}
	case "update", "push":
		if problems := checkSlackView(a.View); len(problems) > 0 {
			return Reaction{Warning: "We had some trouble connecting. Try again? " + strings.Join(problems, "; ")}
		}
		v.View, v.Errors, v.Hash = a.View, nil, uuid.NewString()
		return Reaction{OK: true, Modal: v.ID}
	case "", "clear":
		delete(w.views, v.ID)
		return Reaction{OK: true}
	}
	return Reaction{Warning: "We had some trouble connecting. Try again?"}
}

// responseURL takes what an app sends to the response_url of an interaction.
func (w *slackWorld) responseURL(rw http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var a object
	if err != nil || json.Unmarshal(raw, &a) != nil {
		http.Error(rw, "invalid_payload", http.StatusBadRequest)
		return
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	key := r.PathValue("key")
	u, ok := w.urls[key]
	if !ok || u.uses >= 5 || time.Now().After(u.expires) {
		http.Error(rw, "used_url", http.StatusNotFound)
		return
	}
	u.uses++
	w.urls[key] = u
	c := w.channels[u.channel]
	n := c.find(u.ts)
	m := object{"ts": w.stamp(), "user": SlackBotUser, "type": "message"}
	replace := a["replace_original"] == true || str(a, "replace_original") == "true"
	if replace && n >= 0 {
		m = cloneObject(c.Messages[n])
	}
	if bad := slackContent(a, m); bad != nil {
		writeJSON(rw, http.StatusBadRequest, bad)
		return
	}
	switch {
	case replace && n >= 0:
		c.Messages[n] = m
	case str(a, "response_type") == "in_channel":
		c.Messages = append(c.Messages, m)
	default:
		c.Private = append(c.Private, slackPrivate{u.user, m})
	}
	w.s.touch()
	_, _ = io.WriteString(rw, "ok") // the app has gone
}
