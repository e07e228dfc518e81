package slack

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var (
	homeShape = shape{
		"blocks": required(listOf(1, math.MaxInt32, anything)), "private_metadata": optional(text(0, maxMetadata)),
		"callback_id": optional(text(0, maxCallbackID)), "external_id": optional(text(0, maxCallbackID)),
	}
	modalShape = homeShape.with(shape{
		"title": required(plain(maxTitle)), "close": optional(plain(maxTitle)), "submit": optional(plain(maxTitle)),
	})
)

// checkView checks a view against the published limits.
func checkView(v raw.Object, kind string) []string {
	const at = "/view"
	c, fields := checker{}, modalShape
	if kind == "home" {
		fields = homeShape
	}
	if raw.Str(v, "type") != kind {
		c.fail(at+"/type", "must be %s", kind)
	}
	if kind == "modal" && hasBlock(v, "input") {
		fields = fields.with(shape{"submit": required(plain(maxTitle))})
	}
	c.object(at, v, fields)
	slices.Sort(c.problems)
	return append(c.problems, checkBlocks(at+"/blocks", raw.List(v, "blocks"), maxViewBlocks)...)
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

func (e *Emulator) viewsOpen(a raw.Object) raw.Object {
	return e.show(a, func(user string, v raw.Object) (*view, string) {
		shown := e.newView(user, v)
		e.stacks[user] = []*view{shown} // this closes all other modals of the member
		return shown, ""
	})
}

func (e *Emulator) viewsPush(a raw.Object) raw.Object {
	return e.show(a, func(user string, v raw.Object) (*view, string) {
		if e.top(user) == nil {
			return nil, "invalid_trigger_id" // push is possible only after a click in a modal
		}
		return e.push(user, v), "push_limit_reached"
	})
}

// show opens a modal for the user of a trigger. If put returns no view, it
// returns the code of the error.
func (e *Emulator) show(a raw.Object, put func(user string, v raw.Object) (*view, string)) raw.Object {
	v, bad := checkedView(a, "modal")
	if bad != nil {
		return bad
	}
	if e.external(raw.Str(v, "external_id")) != nil {
		return failure("duplicate_external_id")
	}
	user, bad := e.useTrigger(raw.Str(a, "trigger_id"))
	if bad != nil {
		return bad
	}
	shown, code := put(user, v)
	if shown == nil {
		return failure(code)
	}
	e.Touch()
	return raw.Object{"view": shown.json(nil)}
}

func (e *Emulator) viewsUpdate(a raw.Object) raw.Object {
	shown := e.find(raw.Str(a, "view_id"))
	if external := raw.Str(a, "external_id"); external != "" {
		shown = e.external(external)
	}
	if shown == nil {
		return failure("not_found")
	}
	return e.rewrite(shown, a)
}

func (e *Emulator) viewsPublish(a raw.Object) raw.Object {
	user := raw.Str(a, "user_id")
	if _, known := e.ByID(user); !known {
		return failure("user_not_found")
	}
	if e.homes[user] != nil {
		return e.rewrite(e.homes[user], a)
	}
	v, bad := checkedView(a, "home")
	if bad != nil {
		return bad
	}
	e.homes[user] = e.newView(user, v)
	e.Touch()
	return raw.Object{"view": e.homes[user].json(nil)}
}

// rewrite replaces the content of a view that is open.
func (e *Emulator) rewrite(shown *view, a raw.Object) raw.Object {
	if h := raw.Str(a, "hash"); h != "" && h != shown.Hash {
		return failure("hash_conflict")
	}
	v, bad := checkedView(a, raw.Str(shown.View, "type"))
	if bad != nil {
		return bad
	}
	if other := e.external(raw.Str(v, "external_id")); other != nil && other != shown {
		return failure("duplicate_external_id")
	}
	shown.replace(v)
	e.Touch()
	return raw.Object{"view": shown.json(nil)}
}

// view is an open modal or a Home tab.
type view struct {
	ID       string
	User     string
	View     raw.Object
	Errors   map[string]string
	Hash     string
	root     string // ID of the first view of the stack
	previous string
}

// newView returns a view that is not visible yet.
func (e *Emulator) newView(user string, content raw.Object) *view {
	v := &view{ID: "V" + strconv.FormatInt(e.Next(), 10), User: user}
	v.root = v.ID
	v.replace(content)
	return v
}

// push shows a modal above the visible modal of a member. It returns nil if the
// stack is full.
func (e *Emulator) push(user string, content raw.Object) *view {
	s := e.stacks[user]
	if len(s) >= maxStack {
		return nil
	}
	v, below := e.newView(user, content), s[len(s)-1]
	v.root, v.previous = below.root, below.ID
	e.stacks[user] = append(s, v)
	return v
}

// pop closes a view and all views above it.
func (e *Emulator) pop(v *view) {
	s := e.stacks[v.User]
	if n := slices.Index(s, v); n > 0 {
		e.stacks[v.User] = s[:n]
	} else {
		delete(e.stacks, v.User)
	}
}

// top returns the visible modal of a member, or nil.
func (e *Emulator) top(user string) *view {
	if s := e.stacks[user]; len(s) > 0 {
		return s[len(s)-1]
	}
	return nil
}

// shown returns the ID of the modal that a member sees, or "".
func (e *Emulator) shown(m core.Account) string {
	if top := e.top(m.ID); top != nil {
		return top.ID
	}
	return ""
}

// findView returns an open modal or a Home tab, or nil.
func (e *Emulator) findView(ok func(*view) bool) *view {
	for _, v := range e.homes {
		if ok(v) {
			return v
		}
	}
	for _, s := range e.stacks {
		if n := slices.IndexFunc(s, ok); n >= 0 {
			return s[n]
		}
	}
	return nil
}

// find returns a modal or a Home tab by its ID, or nil.
func (e *Emulator) find(id string) *view { return e.findView(func(v *view) bool { return v.ID == id }) }

// external returns the view with an external ID, or nil.
func (e *Emulator) external(id string) *view {
	return e.findView(func(v *view) bool { return id != "" && raw.Str(v.View, "external_id") == id })
}

// replace replaces the content of a view.
func (v *view) replace(with raw.Object) {
	named(raw.List(with, "blocks"))
	v.View, v.Hash, v.Errors = with, uuid.NewString(), nil
}

// viewDefaults holds the fields of a view that a bot may omit.
var viewDefaults = raw.Object{
	"callback_id": "", "private_metadata": "", "external_id": "", "clear_on_close": false, "notify_on_close": false,
	"close": nil, "submit": nil,
}

// json returns the view in the format of payloads and responses.
func (v *view) json(values raw.Object) raw.Object {
	out := raw.Copy(v.View)
	for name, value := range viewDefaults {
		if _, given := out[name]; !given {
			out[name] = value
		}
	}
	out["id"], out["hash"], out["team_id"], out["app_id"], out["bot_id"] = v.ID, v.Hash, team, app, bot
	out["app_installed_team_id"], out["root_view_id"], out["previous_view_id"] = team, v.root, nil
	if v.previous != "" {
		out["previous_view_id"] = v.previous
	}
	if values == nil {
		values = raw.Object{}
	}
	out["state"] = raw.Object{"values": values}
	return out
}

// named gives IDs to blocks and elements without an ID from the bot.
func named(blocks []any) {
	for _, b := range raw.All(blocks) {
		if raw.Str(b, "block_id") == "" {
			b["block_id"] = uuid.NewString()[:5]
		}
		for _, of := range inBlock(b) {
			if elements[raw.Str(of, "type")].interactive() && of["action_id"] == nil {
				of["action_id"] = uuid.NewString()[:5]
			}
		}
	}
}

// trigger allows an app to open one modal for a user.
type trigger struct {
	user    string
	expires time.Time
	used    bool
}

// trigger returns a new trigger ID for a user.
func (e *Emulator) trigger(user string) string {
	id := strings.Join([]string{strconv.FormatInt(e.Next(), 10), "1", uuid.NewString()}, ".")
	e.triggers[id] = trigger{user: user, expires: e.Clock.Now().Add(triggerTTL)}
	return id
}

// useTrigger consumes a trigger and returns its user. A trigger works only
// once.
func (e *Emulator) useTrigger(id string) (user string, bad raw.Object) {
	t, ok := e.triggers[id]
	switch {
	case !ok:
		return "", failure("invalid_trigger_id")
	case t.used:
		return "", failure("exchanged_trigger_id")
	case e.Clock.Now().After(t.expires):
		return "", failure("expired_trigger_id")
	}
	t.used = true
	e.triggers[id] = t
	return t.user, nil
}
