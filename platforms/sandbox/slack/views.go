package slack

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// viewsAPI has the methods views.*.
type viewsAPI struct{ *workspace }

var (
	homeShape = shape{
		"blocks": required(listOf(1, math.MaxInt32, anything)), "private_metadata": optional(text(0, maxMetadata)),
		"callback_id": optional(text(0, maxCallbackID)), "external_id": optional(text(0, maxCallbackID)),
	}
	modalShape = homeShape.with(shape{
		"title": required(plain(maxTitle)), "close": optional(plain(maxTitle)), "submit": optional(plain(maxTitle)),
		"clear_on_close": optional(flag), "notify_on_close": optional(flag), "submit_disabled": optional(flag),
	})
)

// checkView checks a view against the published limits.
func checkView(v raw.Object, kind string) []string {
	const at = "/view"
	c, on, fields := checker{}, onModal, modalShape
	if kind == "home" {
		on, fields = onHome, homeShape
	}
	if raw.Str(v, "type") != kind {
		c.fail(at+"/type", "must be %s", kind)
	}
	fields = maps.Clone(fields)
	if kind == "modal" && hasBlock(v, "input") {
		fields["submit"] = required(plain(maxTitle))
	}
	c.object(at, v, fields)
	slices.Sort(c.problems)
	return append(c.problems, checkBlocks(at+"/blocks", raw.List(v, "blocks"), on)...)
}

// CheckModal returns the reasons why Slack would refuse a modal.
func CheckModal(encoded []byte) []string { return refused(encoded, "modal") }

// CheckHome returns the reasons why Slack would refuse a Home tab.
func CheckHome(encoded []byte) []string { return refused(encoded, "home") }

func refused(encoded []byte, kind string) []string {
	var v raw.Object
	if err := json.Unmarshal(encoded, &v); err != nil {
		return []string{err.Error()}
	}
	_, bad := checkedView(raw.Object{"view": v}, kind)
	if bad == nil {
		return nil
	}
	return append([]string{raw.Str(bad, "error")}, checkView(v, kind)...)
}

// checkedView returns the view of a call, or the error of the API.
func checkedView(a raw.Object, kind string) (v, bad raw.Object) {
	v = raw.Sub(a, "view")
	if v == nil {
		return nil, missing("view")
	}
	if encoded, err := json.Marshal(v); err != nil || len(encoded) > maxView {
		return nil, failure("view_too_large")
	}
	if problems := checkView(v, kind); len(problems) > 0 {
		return nil, invalidArguments(problems...)
	}
	return v, nil
}

// missing returns the error for a call without an argument.
func missing(name string) raw.Object {
	return invalidArguments(fmt.Sprintf("[ERROR] missing required field: %s [json-pointer:/%s]", name, name))
}

func (api viewsAPI) open(_ *http.Request, a raw.Object) raw.Object {
	return api.show(a, func(user string, v raw.Object) (*view, raw.Object) { return api.workspace.open(user, v), nil })
}

func (api viewsAPI) push(_ *http.Request, a raw.Object) raw.Object {
	return api.show(a, func(user string, v raw.Object) (*view, raw.Object) {
		if api.top(user) == nil {
			return nil, failure("invalid_trigger_id") // push is possible only after a click in a modal
		}
		if pushed := api.workspace.push(user, v); pushed != nil {
			return pushed, nil
		}
		return nil, failure("push_limit_reached")
	})
}

// show opens a modal for the user of a trigger.
func (api viewsAPI) show(a raw.Object, put func(user string, v raw.Object) (*view, raw.Object)) raw.Object {
	id := raw.Str(a, "trigger_id")
	if id == "" {
		return missing("trigger_id")
	}
	v, bad := checkedView(a, "modal")
	if bad != nil {
		return bad
	}
	if api.external(raw.Str(v, "external_id")) != nil {
		return failure("duplicate_external_id")
	}
	user, bad := api.useTrigger(id)
	if bad != nil {
		return bad
	}
	shown, bad := put(user, v)
	if bad != nil {
		return bad
	}
	api.Touch()
	return raw.Object{"view": shown.json(nil)}
}

func (api viewsAPI) update(_ *http.Request, a raw.Object) raw.Object {
	shown := api.find(raw.Str(a, "view_id"))
	if external := raw.Str(a, "external_id"); external != "" {
		shown = api.external(external)
	}
	if shown == nil {
		return failure("not_found")
	}
	if h := raw.Str(a, "hash"); h != "" && h != shown.Hash {
		return failure("hash_conflict")
	}
	v, bad := checkedView(a, raw.Str(shown.View, "type"))
	if bad != nil {
		return bad
	}
	if other := api.external(raw.Str(v, "external_id")); other != nil && other != shown {
		return failure("duplicate_external_id")
	}
	shown.replace(v)
	api.Touch()
	return raw.Object{"view": shown.json(nil)}
}

func (api viewsAPI) publish(_ *http.Request, a raw.Object) raw.Object {
	user := raw.Str(a, "user_id")
	if user == "" {
		return missing("user_id")
	}
	if _, known := api.ByID(user); !known {
		return failure("user_not_found")
	}
	v, bad := checkedView(a, "home")
	if bad != nil {
		return bad
	}
	home := api.homes[user]
	if home == nil {
		home = api.newView(user, v)
		api.homes[user] = home
	} else if h := raw.Str(a, "hash"); h != "" && h != home.Hash {
		return failure("hash_conflict")
	}
	home.replace(v)
	api.Touch()
	return raw.Object{"view": home.json(nil)}
}
