package slack

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// webAPI serves the calls of bots.
type webAPI struct {
	*workspace
	methods map[string]method
}

// method is a method of the Web API.
type method struct {
	token     string // required kind of token: bot, app, or any if empty
	tier      tier
	scope     string // required scope, which a fault can remove; no check if empty
	channel   string // argument with the ID of a conversation; no check if empty
	inChannel bool   // the bot must be in the channel
	call      func(r *http.Request, args raw.Object) raw.Object
}

func newWebAPI(w *workspace, d *delivery) webAPI {
	chat, views, people, channels, agents := chatAPI{w}, viewsAPI{w}, usersAPI{w}, conversationsAPI{w}, agentsAPI{w}
	return webAPI{w, map[string]method{
		"agents.sessions.rename":    {token: "bot", tier: tier3, scope: "chat:write", channel: "channel_id", call: agents.rename},
		"agents.sessions.setStatus": {token: "bot", tier: tier3, scope: "chat:write", channel: "channel_id", call: agents.setStatus},
		"api.test":                  {tier: tier4, call: people.test},
		"apps.connections.open":     {token: "app", tier: tier3, call: d.connectionsOpen},
		"auth.test":                 {token: "bot", tier: tierSpecial, call: people.authTest},
		"bots.info":                 {token: "bot", tier: tier3, scope: "users:read", call: people.bot},
		"chat.delete":               {token: "bot", tier: tier3, scope: "chat:write", channel: "channel", call: chat.delete},
		"chat.getPermalink":         {token: "bot", tier: tierSpecial, channel: "channel", call: chat.permalink},
		"chat.postEphemeral":        {token: "bot", tier: tier4, scope: "chat:write", call: chat.postEphemeral},
		"chat.postMessage":          {token: "bot", tier: tierPost, scope: "chat:write", inChannel: true, call: chat.postMessage},
		"chat.update":               {token: "bot", tier: tier3, scope: "chat:write", channel: "channel", call: chat.update},
		"conversations.history":     {token: "bot", tier: tier3, scope: "channels:history", inChannel: true, channel: "channel", call: channels.history},
		"conversations.info":        {token: "bot", tier: tier3, scope: "channels:read", inChannel: true, channel: "channel", call: channels.info},
		"conversations.list":        {token: "bot", tier: tier2, scope: "channels:read", call: channels.list},
		"conversations.members":     {token: "bot", tier: tier4, scope: "channels:read", channel: "channel", call: channels.members},
		"conversations.open":        {token: "bot", tier: tier3, scope: "im:write", call: channels.open},
		"usergroups.users.list":     {token: "bot", tier: tier2, scope: "usergroups:read", call: people.group},
		"users.info":                {token: "bot", tier: tier4, scope: "users:read", call: people.info},
		"users.list":                {token: "bot", tier: tier2, scope: "users:read", call: people.list},
		"views.open":                {token: "bot", tier: tier4, call: views.open},
		"views.publish":             {token: "bot", tier: tier4, call: views.publish},
		"views.push":                {token: "bot", tier: tier4, call: views.push},
		"views.update":              {token: "bot", tier: tier4, call: views.update},
	}}
}

// granted lists the scopes of the app.
var granted = []string{
	"channels:history", "channels:read", "chat:write", "commands", "groups:history", "groups:read", "im:history", "im:read", "im:write",
	"usergroups:read", "users:read", "users:read.email",
}

// yes reads a boolean argument, which may be a text.
func yes(a raw.Object, key string) bool {
	return a[key] == true || raw.Str(a, key) == "true" || raw.Str(a, key) == "1"
}

func failure(code string) raw.Object { return raw.Object{"error": code} }

// invalidArguments returns the error for invalid arguments. Each problem has a
// JSON pointer.
func invalidArguments(problems ...string) raw.Object {
	return raw.Object{"error": "invalid_arguments", "response_metadata": raw.Object{"messages": problems}}
}

func (api webAPI) serve(rw http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	limited := func(retry int) {
		if retry > 0 {
			rw.Header().Set("Retry-After", strconv.Itoa(retry))
		}
		raw.Write(rw, http.StatusTooManyRequests, raw.Object{"ok": false, "error": "ratelimited"})
	}
	failed := func(status int, code string) {
		if code == "" {
			raw.Write(rw, status, raw.Object{"ok": false, "error": "internal_error"})
			return
		}
		raw.Write(rw, 200, raw.Object{"ok": false, "error": code, "warning": "superfluous_charset"})
	}
	if rw = api.Misbehave(rw, r, name, limited, failed); rw == nil {
		return
	}
	m, known := api.methods[name]
	if !known {
		raw.Write(rw, 200, raw.Object{"ok": false, "error": "unknown_method", "req_method": name})
		return
	}
	args, token, refused := arguments(r)
	if refused == "" && m.token != "" {
		refused = api.authorize(m.token, token)
	}
	if refused != "" {
		raw.Write(rw, 200, raw.Object{"ok": false, "error": refused})
		return
	}
	if wait := api.pace(name, m.tier, args); wait > 0 {
		limited(wait)
		return
	}
	if answer := api.barred(name, m, args); answer != nil {
		raw.Write(rw, 200, answer)
		return
	}
	rw.Header().Set("X-OAuth-Scopes", api.scopes())
	accepted := api.Recorder.Watch(Name, name, args)
	api.damage(name, args)
	api.Lock()
	answer := failure("channel_not_found")
	if m.channel == "" || api.Chats[raw.Str(args, m.channel)] != nil {
		answer = m.call(r, args)
	}
	api.Unlock()
	if answer["ok"] == nil {
		answer["ok"] = answer["error"] == nil
	}
	if answer["ok"] == true {
		accepted(answer)
	}
	raw.Write(rw, 200, answer)
	core.Lose(rw)
}

func (api webAPI) authorize(kind, token string) string {
	if token == "" {
		return "not_authed"
	}
	if api.Has("revoke") {
		return "token_revoked"
	}
	switch {
	case kind == "bot" && token == BotToken, kind == "app" && token == AppToken:
		return ""
	case strings.HasPrefix(token, "xapp-") != (kind == "app"):
		return "not_allowed_token_type"
	}
	return "invalid_auth"
}

// pace returns the number of seconds that a caller must wait, or 0.
func (api webAPI) pace(name string, t tier, args raw.Object) int {
	api.Lock()
	defer api.Unlock()
	key := "slack " + name
	wait := time.Duration(0)
	if name == "chat.postMessage" {
		wait = api.Limits.TakeIn(key, maxPosts, time.Minute)
		key += " " + raw.Str(args, "channel")
	}
	if wait = max(wait, api.Limits.Take(key, t.rate, t.burst)); wait > 0 {
		return int(wait.Seconds()) + 1
	}
	return 0
}

// barred returns the error for a bot that lacks a scope or is not in a channel,
// or nil.
func (api webAPI) barred(name string, m method, args raw.Object) raw.Object {
	if m.scope != "" && api.Fault(m.scope, "missing_scope") != nil {
		return raw.Object{"ok": false, "error": "missing_scope", "needed": m.scope, "provided": api.scopes()}
	}
	if strings.HasPrefix(name, "agents.sessions.") && api.Has("no_agent") {
		return failure("not_agent_app")
	}
	if !m.inChannel || !api.Has("absent") {
		return nil
	}
	if name == "conversations.info" {
		channel := raw.Object{"id": raw.Str(args, "channel"), "name": "deploys", "is_member": false, "is_im": false}
		return raw.Object{"ok": true, "channel": channel}
	}
	return raw.Object{"ok": false, "error": "not_in_channel"}
}

// scopes returns the scopes of the bot token in the format of the header.
func (api webAPI) scopes() string {
	var have []string
	for _, scope := range granted {
		if api.Fault(scope, "missing_scope") == nil {
			have = append(have, scope)
		}
	}
	return strings.Join(have, ",")
}

// damage applies the faults that lose content without an error.
func (api webAPI) damage(name string, args raw.Object) {
	if v := raw.Sub(args, "view"); v != nil {
		args = v
	}
	blocks, ok := args["blocks"].([]any)
	if !ok {
		return
	}
	if api.Fault(name, "truncate") != nil {
		args["blocks"] = core.Truncated(blocks)
	}
	if api.Fault(name, "strip") != nil {
		args["blocks"] = slices.DeleteFunc(blocks, func(b any) bool {
			o, _ := b.(raw.Object)
			return raw.Str(o, "type") == "rich_text"
		})
	}
}

// arguments reads the arguments and the token from a form or a JSON body. If it
// fails, refused is the error code of the API.
func arguments(r *http.Request) (args raw.Object, token, refused string) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return formArguments(r)
	}
	args = raw.Object{}
	// an empty body has no arguments
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil && !errors.Is(err, io.EOF) {
		return nil, "", "invalid_json"
	}
	decode(args)
	return args, bearer(r), ""
}

// formArguments reads a form, in which structured arguments are JSON texts.
func formArguments(r *http.Request) (args raw.Object, token, refused string) {
	args, token = raw.Object{}, bearer(r)
	if err := r.ParseMultipartForm(8 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, "", "invalid_form_data"
	}
	for k, v := range r.Form {
		args[k] = v[0]
	}
	if given, ok := args["token"].(string); ok {
		token = given
	}
	decode(args)
	return args, token, ""
}

// decode decodes structured arguments that are JSON texts. A text that is not
// JSON stays unchanged, and the method refuses it.
func decode(args raw.Object) {
	for _, name := range []string{"blocks", "view", "attachments", "metadata"} {
		var parsed any
		if text, ok := args[name].(string); ok && json.Unmarshal([]byte(text), &parsed) == nil {
			args[name] = parsed
		}
	}
}

func bearer(r *http.Request) string {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token
}
