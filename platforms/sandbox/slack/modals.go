package slack

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// closeAll is the text of the action that closes all modals, like the X. The
// close button at the bottom returns to the previous modal.
const closeAll = "all"

// close closes a modal. The app learns of it if it has requested that.
func (cl client) close(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	v := cl.find(a.View)
	if v == nil || v.User != m.ID || raw.Str(v.View, "type") != "modal" {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("no view %q is open for %s", a.View, m.Key)
	}
	all := a.Text == closeAll || v.View["clear_on_close"] == true
	if all {
		v = cl.stacks[m.ID][0]
	}
	payload := cl.payload("view_closed", m)
	payload["view"], payload["is_cleared"] = v.json(nil), all
	told := v.View["notify_on_close"] == true
	cl.pop(v)
	r := core.Reaction{OK: true, Modal: cl.shown(m)}
	cl.Touch()
	cl.Unlock()
	if told {
		_, _ = cl.delivery.deliver(ctx, payload) // the member does not notice a failure
	}
	return r, nil
}

// shown returns the ID of the modal that a member sees, or "".
func (cl client) shown(m core.Account) string {
	if top := cl.top(m.ID); top != nil {
		return top.ID
	}
	return ""
}

func (cl client) submit(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	if err := cl.suggest(ctx, m, a); err != nil {
		return core.Reaction{}, err
	}
	v, payload, errs, err := cl.viewSubmission(m, a)
	if err != nil {
		return core.Reaction{}, err
	}
	if len(errs) > 0 {
		return core.Reaction{Errors: errs}, nil
	}
	answer, err := cl.delivery.deliver(ctx, payload)
	if err != nil {
		return core.Reaction{Warning: trouble + " (" + err.Error() + ")"}, nil
	}
	return cl.answered(m, v, answer), nil
}

// viewSubmission returns the payload for the app. If the client itself finds
// errors, it returns these in errs.
func (cl client) viewSubmission(
	m core.Account, a core.Action,
) (v *view, payload raw.Object, errs map[string]string, err error) {
	cl.Lock()
	defer cl.Unlock()
	v = cl.top(m.ID)
	if v == nil || v.ID != a.View {
		return nil, nil, nil, cl.Errorf("no view %q is open for %s", a.View, m.Key)
	}
	s, err := cl.stage(m, a)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := cl.remember(s, a.Values); err != nil {
		return nil, nil, nil, err
	}
	values, err := cl.values(s)
	if err != nil {
		return nil, nil, nil, err
	}
	if errs := clientErrors(s.blocks, values); len(errs) > 0 {
		return v, nil, errs, nil
	}
	payload = cl.payload("view_submission", m)
	payload["trigger_id"], payload["view"] = cl.trigger(m.ID), v.json(values)
	payload["response_urls"] = cl.responseURLs(m, s.blocks, values)
	return v, payload, nil, nil
}

// responseURLs returns the response URLs for the conversations that the member
// chose.
func (cl client) responseURLs(m core.Account, blocks []raw.Object, values raw.Object) []any {
	out := []any{}
	for _, b := range blocks {
		e := raw.Sub(b, "element")
		if e["response_url_enabled"] != true {
			continue
		}
		id, action := raw.Str(b, "block_id"), raw.Str(e, "action_id")
		state := raw.Sub(raw.Sub(values, id), action)
		c := cl.channel(raw.Str(state, "selected_conversation") + raw.Str(state, "selected_channel"))
		if c != nil {
			out = append(out, raw.Object{
				"block_id": id, "action_id": action, "channel_id": c.ID, "response_url": cl.newURL(m.ID, c.ID, ""),
			})
		}
	}
	return out
}

const trouble = "We had some trouble connecting. Try again?"

// answered applies the app's response to a view submission.
func (cl client) answered(m core.Account, v *view, body json.RawMessage) core.Reaction {
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
		return v.refuse(a.Errors)
	case "update", "push":
		if problems := checkView(a.View, "modal"); len(problems) > 0 {
			return core.Reaction{Warning: trouble + " " + strings.Join(problems, "; ")}
		}
		if a.Action == "update" {
			v.replace(a.View)
		} else if cl.push(m.ID, a.View) == nil {
			return core.Reaction{Warning: trouble + " push_limit_reached"}
		}
		return core.Reaction{OK: true, Modal: cl.shown(m)}
	case "":
		cl.pop(v)
		return core.Reaction{OK: true, Modal: cl.shown(m)}
	case "clear":
		delete(cl.stacks, m.ID)
		return core.Reaction{OK: true}
	}
	return core.Reaction{Warning: trouble}
}

// refuse shows errors at the inputs of a view. The client accepts no other
// keys.
func (v *view) refuse(errs map[string]string) core.Reaction {
	for id := range maps.Keys(errs) {
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
