package slack

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

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

// stack holds the open modals of a member. The visible modal is last.
type stack []*view

// newView returns a view that is not visible yet.
func (w *workspace) newView(user string, content raw.Object) *view {
	v := &view{ID: "V" + strconv.FormatInt(w.Next(), 10), User: user}
	v.root = v.ID
	v.replace(content)
	return v
}

// open shows a modal and closes all other modals of the member.
func (w *workspace) open(user string, content raw.Object) *view {
	v := w.newView(user, content)
	w.stacks[user] = stack{v}
	return v
}

// push shows a modal above the visible modal of a member. It returns nil if the
// stack is full.
func (w *workspace) push(user string, content raw.Object) *view {
	s := w.stacks[user]
	if len(s) >= maxStack {
		return nil
	}
	v, below := w.newView(user, content), s[len(s)-1]
	v.root, v.previous = below.root, below.ID
	w.stacks[user] = append(s, v)
	return v
}

// pop closes a view and all views above it.
func (w *workspace) pop(v *view) {
	s := w.stacks[v.User]
	if n := slices.Index(s, v); n > 0 {
		w.stacks[v.User] = s[:n]
	} else {
		delete(w.stacks, v.User)
	}
}

// top returns the visible modal of a member, or nil.
func (w *workspace) top(user string) *view {
	if s := w.stacks[user]; len(s) > 0 {
		return s[len(s)-1]
	}
	return nil
}

// modal returns an open modal, or nil.
func (w *workspace) modal(ok func(*view) bool) *view {
	for _, s := range w.stacks {
		if n := slices.IndexFunc(s, ok); n >= 0 {
			return s[n]
		}
	}
	return nil
}

// find returns a modal or a Home tab by its ID, or nil.
func (w *workspace) find(id string) *view {
	for _, v := range w.homes {
		if v.ID == id {
			return v
		}
	}
	return w.modal(func(v *view) bool { return v.ID == id })
}

// external returns the view with an external ID, or nil.
func (w *workspace) external(id string) *view {
	named := func(v *view) bool { return id != "" && raw.Str(v.View, "external_id") == id }
	for _, v := range w.homes {
		if named(v) {
			return v
		}
	}
	return w.modal(named)
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
		for _, e := range elements(b) {
			if _, interactive := elementKinds[raw.Str(e, "type")].shape["action_id"]; interactive && e["action_id"] == nil {
				e["action_id"] = uuid.NewString()[:5]
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
func (w *workspace) trigger(user string) string {
	id := strings.Join([]string{strconv.FormatInt(w.Next(), 10), "1", uuid.NewString()}, ".")
	w.triggers[id] = trigger{user: user, expires: w.Clock.Now().Add(triggerTTL)}
	return id
}

// useTrigger consumes a trigger and returns its user. A trigger works only
// once.
func (w *workspace) useTrigger(id string) (user string, bad raw.Object) {
	t, ok := w.triggers[id]
	switch {
	case !ok:
		return "", failure("invalid_trigger_id")
	case t.used:
		return "", failure("exchanged_trigger_id")
	case w.Clock.Now().After(t.expires):
		return "", failure("expired_trigger_id")
	}
	t.used = true
	w.triggers[id] = t
	return t.user, nil
}
