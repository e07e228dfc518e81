package slack

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// viewsAPI has the methods views.*.
type viewsAPI struct{ *workspace }

// view is an open modal.
type view struct {
	ID     string
	User   string
	View   raw.Object
	Errors map[string]string
	Hash   string
}

// checkModal checks a modal against the published limits.
func checkModal(v raw.Object) []string {
	c := checker{}
	if raw.Str(v, "type") != "modal" {
		c.fail("/type", "must be modal")
	}
	c.text("", v, "title", maxTitle, true, "plain_text")
	c.text("", v, "close", maxTitle, false, "plain_text")
	c.text("", v, "submit", maxTitle, hasBlock(v, "input"), "plain_text")
	if len(raw.List(v, "blocks")) == 0 {
		c.fail("/blocks", "must have at least 1 item")
	}
	if len(raw.Str(v, "private_metadata")) > maxMetadata {
		c.fail("/private_metadata", "must be less than %d characters", maxMetadata+1)
	}
	if len(raw.Str(v, "callback_id")) > maxCallbackID {
		c.fail("/callback_id", "must be less than %d characters", maxCallbackID+1)
	}
	return append(c.problems, checkBlocks(raw.List(v, "blocks"), maxViewBlocks)...)
}

// CheckModal returns the reasons why Slack would refuse a view.
func CheckModal(encoded []byte) []string {
	var v raw.Object
	if err := json.Unmarshal(encoded, &v); err != nil {
		return []string{err.Error()}
	}
	_, bad := checkedView(raw.Object{"view": v})
	if bad == nil {
		return nil
	}
	return append([]string{raw.Str(bad, "error")}, checkModal(v)...)
}

// checkedView returns the modal of a call, or the error of the API.
func checkedView(a raw.Object) (v, bad raw.Object) {
	v = raw.Sub(a, "view")
	if v == nil {
		return nil, failure("invalid_arguments")
	}
	if tooLarge(v) {
		return nil, failure("view_too_large")
	}
	if problems := checkModal(v); len(problems) > 0 {
		return nil, invalidArguments(problems...)
	}
	return v, nil
}

func tooLarge(v raw.Object) bool {
	encoded, err := json.Marshal(v)
	return err != nil || len(encoded) > maxView
}

func (api viewsAPI) open(_ *http.Request, a raw.Object) raw.Object { return api.show(a, true) }

func (api viewsAPI) push(_ *http.Request, a raw.Object) raw.Object {
	user := userOfTrigger(raw.Str(a, "trigger_id"))
	for _, v := range api.views {
		if v.User == user {
			return api.show(a, false)
		}
	}
	return api.show(a, true)
}

// show opens a modal. A client shows one stack of views. The first view of a
// stack replaces the old stack.
func (api viewsAPI) show(a raw.Object, first bool) raw.Object {
	v, bad := checkedView(a)
	if bad != nil {
		return bad
	}
	user, bad := api.useTrigger(raw.Str(a, "trigger_id"))
	if bad != nil {
		return bad
	}
	for id, open := range api.views {
		if first && open.User == user {
			delete(api.views, id)
		}
	}
	id := "V" + strconv.FormatInt(api.Next(), 10)
	api.views[id] = &view{ID: id, User: user, View: v, Hash: uuid.NewString()}
	api.Touch()
	return raw.Object{"view": api.views[id].json(nil)}
}

func (api viewsAPI) update(_ *http.Request, a raw.Object) raw.Object {
	open := api.views[raw.Str(a, "view_id")]
	if open == nil {
		return failure("not_found")
	}
	if h := raw.Str(a, "hash"); h != "" && h != open.Hash {
		return failure("hash_conflict")
	}
	v, bad := checkedView(a)
	if bad != nil {
		return bad
	}
	open.replace(v)
	api.Touch()
	return raw.Object{"view": open.json(nil)}
}

func (api viewsAPI) publish(_ *http.Request, a raw.Object) raw.Object {
	v := raw.Sub(a, "view")
	switch {
	case v == nil || raw.Str(a, "user_id") == "":
		return failure("invalid_arguments")
	case tooLarge(v):
		return failure("view_too_large")
	case raw.Str(v, "type") != "home":
		return invalidArguments("[ERROR] must be home [json-pointer:/view/type]")
	case len(raw.List(v, "blocks")) > maxViewBlocks:
		return invalidArguments("[ERROR] no more than 100 items allowed [json-pointer:/view/blocks]")
	}
	if problems := checkBlocks(raw.List(v, "blocks"), maxViewBlocks); len(problems) > 0 {
		return invalidArguments(problems...)
	}
	api.homes[raw.Str(a, "user_id")] = v
	api.Touch()
	return raw.Object{"view": raw.Object{"id": "V0HOME" + raw.Str(a, "user_id"), "type": "home"}}
}

func (v *view) replace(with raw.Object) { v.View, v.Hash, v.Errors = with, uuid.NewString(), nil }

// json returns the view in the format of payloads and answers.
func (v *view) json(values raw.Object) raw.Object {
	out := raw.Copy(v.View)
	out["id"], out["hash"], out["team_id"], out["app_id"], out["bot_id"] = v.ID, v.Hash, team, app, bot
	out["root_view_id"], out["previous_view_id"] = v.ID, nil
	if values == nil {
		values = raw.Object{}
	}
	out["state"] = raw.Object{"values": values}
	return out
}
