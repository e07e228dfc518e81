package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// checkSlackView checks a modal against the published limits.
func checkSlackView(v object) []string {
	c := slackChecker{surface: slackInModal}
	if str(v, "type") != "modal" {
		c.fail("/type", "must be modal")
	}
	c.text("", v, "title", 24, true, "plain_text")
	c.text("", v, "close", 24, false, "plain_text")
	inputs := false
	for _, b := range list(v, "blocks") {
		o, _ := b.(object)
		inputs = inputs || str(o, "type") == "input"
	}
	c.text("", v, "submit", 24, inputs, "plain_text")
	if len(list(v, "blocks")) == 0 {
		c.fail("/blocks", "must have at least 1 item")
	}
	if len(str(v, "private_metadata")) > 3000 {
		c.fail("/private_metadata", "must be less than 3001 characters")
	}
	if len(str(v, "callback_id")) > 255 {
		c.fail("/callback_id", "must be less than 256 characters")
	}
	return append(c.problems, checkSlackBlocks(list(v, "blocks"), slackInModal)...)
}

func checkedView(a object) (object, object) {
	v := sub(a, "view")
	if v == nil {
		return nil, slackError("invalid_arguments")
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) > 250_000 {
		return nil, slackError("view_too_large")
	}
	if problems := checkSlackView(v); len(problems) > 0 {
		return nil, object{"error": "invalid_arguments", "response_metadata": object{"messages": problems}}
	}
	return v, nil
}

func (w *slackWorld) useTrigger(id string) (user string, bad object) {
	expires, ok := w.triggers[id]
	delete(w.triggers, id)
	switch {
	case !ok:
		return "", slackError("exchanged_trigger_id")
	case time.Now().After(expires):
		return "", slackError("expired_trigger_id")
	}
	return userOfTrigger(id), nil
}

func (w *slackWorld) viewsOpen(_ *http.Request, a object) object { return w.show(a, "") }

func (w *slackWorld) viewsPush(_ *http.Request, a object) object {
	user, top := userOfTrigger(str(a, "trigger_id")), ""
	for id, v := range w.views {
		if v.User == user {
			top = id
		}
	}
	return w.show(a, top)
}

func (w *slackWorld) show(a object, parent string) object {
	v, bad := checkedView(a)
	if bad != nil {
		return bad
	}
	user, bad := w.useTrigger(str(a, "trigger_id"))
	if bad != nil {
		return bad
	}
	if parent == "" { // a client shows one stack of views
		for id, open := range w.views {
			if open.User == user {
				delete(w.views, id)
			}
		}
	}
	id := "V" + strconv.FormatInt(w.s.next(), 10)
	w.views[id] = &slackView{ID: id, User: user, View: v, Hash: uuid.NewString(), Parent: parent, Opened: time.Now()}
	w.s.touch()
	return object{"view": w.viewJSON(w.views[id], nil)}
}

func (w *slackWorld) viewsUpdate(_ *http.Request, a object) object {
	open := w.views[str(a, "view_id")]
	if open == nil {
		return slackError("not_found")
	}
	if h := str(a, "hash"); h != "" && h != open.Hash {
		return slackError("hash_conflict")
	}
	v, bad := checkedView(a)
	if bad != nil {
		return bad
	}
	open.View, open.Hash, open.Errors = v, uuid.NewString(), nil
	w.s.touch()
	return object{"view": w.viewJSON(open, nil)}
}

// viewJSON is a view as payloads and answers carry it.
func (w *slackWorld) viewJSON(v *slackView, values object) object {
	out := cloneObject(v.View)
	out["id"], out["hash"], out["team_id"], out["app_id"], out["bot_id"] = v.ID, v.Hash, "T0SANDBOX", "A0SANDBOX", "B0SANDBOX"
	out["root_view_id"], out["previous_view_id"] = v.ID, nil
	if values == nil {
		values = object{}
	}
	out["state"] = object{"values": values}
	return out
}
