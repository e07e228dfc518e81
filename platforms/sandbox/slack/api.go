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

// method is a method of the Web API.
type method struct {
	token     string // required kind of token: bot, app, or any if empty
	tier      tier
	scope     string // required scope, which a fault can remove; no check if empty
	channel   string // argument with the ID of a conversation; no check if empty
	inChannel bool   // the bot must be in the channel
	message   string // argument with the ID of a message in the conversation; no check if empty
	needs     string // required argument
	text      int    // maximum length of the text in characters; no check if zero
	call      func(e *Emulator, args raw.Object) raw.Object
}

var methods = map[string]method{
	"agents.sessions.rename":    {token: "bot", tier: tier3, scope: "chat:write", channel: "channel_id", needs: "thread_ts", call: (*Emulator).rename},
	"agents.sessions.setStatus": {token: "bot", tier: tier3, scope: "chat:write", channel: "channel_id", needs: "thread_ts", call: (*Emulator).setStatus},
	"api.test":                  {tier: tier4, call: (*Emulator).apiTest},
	"apps.connections.open":     {token: "app", tier: tier3, call: (*Emulator).connectionsOpen},
	"auth.test":                 {token: "bot", tier: tierSpecial, call: (*Emulator).authTest},
	"bots.info":                 {token: "bot", tier: tier3, scope: "users:read", call: (*Emulator).botsInfo},
	"chat.delete":               {token: "bot", tier: tier3, scope: "chat:write", channel: "channel", message: "ts", call: (*Emulator).chatDelete},
	"chat.getPermalink":         {token: "bot", tier: tierSpecial, channel: "channel", message: "message_ts", call: (*Emulator).permalink},
	"chat.postEphemeral":        {token: "bot", tier: tier4, scope: "chat:write", call: (*Emulator).postEphemeral},
	"chat.postMessage":          {token: "bot", tier: tierPost, scope: "chat:write", inChannel: true, text: maxPostText, call: (*Emulator).postMessage},
	"chat.update":               {token: "bot", tier: tier3, scope: "chat:write", channel: "channel", message: "ts", text: maxUpdateText, call: (*Emulator).chatUpdate},
	"conversations.history":     {token: "bot", tier: tier3, scope: "channels:history", inChannel: true, channel: "channel", call: (*Emulator).history},
	"conversations.info":        {token: "bot", tier: tier3, scope: "channels:read", inChannel: true, channel: "channel", call: (*Emulator).conversationInfo},
	"conversations.list":        {token: "bot", tier: tier2, scope: "channels:read", call: (*Emulator).conversationList},
	"conversations.members":     {token: "bot", tier: tier4, scope: "channels:read", channel: "channel", call: (*Emulator).members},
	"conversations.open":        {token: "bot", tier: tier3, scope: "im:write", call: (*Emulator).conversationOpen},
	"usergroups.users.list":     {token: "bot", tier: tier2, scope: "usergroups:read", call: (*Emulator).groupUsers},
	"users.info":                {token: "bot", tier: tier4, scope: "users:read", call: (*Emulator).userInfo},
	"users.list":                {token: "bot", tier: tier2, scope: "users:read", call: (*Emulator).userList},
	"views.open":                {token: "bot", tier: tier4, needs: "trigger_id", call: (*Emulator).viewsOpen},
	"views.publish":             {token: "bot", tier: tier4, needs: "user_id", call: (*Emulator).viewsPublish},
	"views.push":                {token: "bot", tier: tier4, needs: "trigger_id", call: (*Emulator).viewsPush},
	"views.update":              {token: "bot", tier: tier4, call: (*Emulator).viewsUpdate},
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

func (e *Emulator) serve(rw http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	limited := func(retry int) {
		if retry > 0 {
			rw.Header().Set("Retry-After", strconv.Itoa(retry))
		}
		answer(rw, http.StatusTooManyRequests, failure("ratelimited"))
	}
	failed := func(status int, code string) {
		if code == "" {
			answer(rw, status, failure("internal_error"))
			return
		}
		answer(rw, 200, raw.Object{"error": code, "warning": "superfluous_charset"})
	}
	if rw = e.Misbehave(rw, r, name, limited, failed); rw == nil {
		return
	}
	m, known := methods[name]
	if !known {
		answer(rw, 200, raw.Object{"error": "unknown_method", "req_method": name})
		return
	}
	args, token, refused := arguments(r)
	if refused == "" && m.token != "" {
		refused = e.authorize(m.token, token)
	}
	if refused != "" {
		answer(rw, 200, failure(refused))
		return
	}
	if wait := e.pace(name, m.tier, args); wait > 0 {
		limited(wait)
		return
	}
	if barred := e.barred(name, m, args); barred != nil {
		answer(rw, 200, barred)
		return
	}
	rw.Header().Set("X-OAuth-Scopes", e.scopes())
	accepted := e.Recorder.Watch(Name, name, args)
	e.damage(name, args)
	e.Lock()
	result := e.refused(m, args)
	if result == nil {
		result = m.call(e, args)
	}
	e.Unlock()
	if result["error"] == nil {
		result["ok"] = true
		accepted(result)
	}
	answer(rw, 200, result)
	core.Lose(rw)
}

// answer writes the answer to a call, which is an error if it has the field
// error.
func answer(rw http.ResponseWriter, status int, result raw.Object) {
	result["ok"] = result["error"] == nil
	raw.Write(rw, status, result)
}

// refused returns the error for a call whose arguments do not fit the method, or
// nil.
func (e *Emulator) refused(m method, args raw.Object) raw.Object {
	c := e.Chats[raw.Str(args, m.channel)]
	switch {
	case m.channel != "" && c == nil:
		return failure("channel_not_found")
	case m.message != "" && c.Message(raw.Str(args, m.message)) == nil:
		return failure("message_not_found")
	case m.needs != "" && raw.Str(args, m.needs) == "":
		return missing(m.needs)
	case m.text != 0 && raw.Runes(raw.Str(args, "text")) > m.text:
		return failure("msg_too_long")
	}
	return nil
}

func (e *Emulator) authorize(kind, token string) string {
	if token == "" {
		return "not_authed"
	}
	if e.Has("revoke") {
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
func (e *Emulator) pace(name string, t tier, args raw.Object) int {
	e.Lock()
	defer e.Unlock()
	key := "slack " + name
	wait := time.Duration(0)
	if name == "chat.postMessage" {
		wait = e.Limits.TakeIn(key, maxPosts, time.Minute)
		key += " " + raw.Str(args, "channel")
	}
	if wait = max(wait, e.Limits.Take(key, t.rate, t.burst)); wait > 0 {
		return int(wait.Seconds()) + 1
	}
	return 0
}

// barred returns the error for a bot that lacks a scope or is not in a channel,
// or nil.
func (e *Emulator) barred(name string, m method, args raw.Object) raw.Object {
	if m.scope != "" && e.Fault(m.scope, "missing_scope") != nil {
		return raw.Object{"error": "missing_scope", "needed": m.scope, "provided": e.scopes()}
	}
	if strings.HasPrefix(name, "agents.sessions.") && e.Has("no_agent") {
		return failure("not_agent_app")
	}
	if !m.inChannel || !e.Has("absent") {
		return nil
	}
	if name == "conversations.info" {
		channel := raw.Object{"id": raw.Str(args, "channel"), "name": "deploys", "is_member": false, "is_im": false}
		return raw.Object{"channel": channel}
	}
	return failure("not_in_channel")
}

// scopes returns the scopes of the bot token in the format of the header.
func (e *Emulator) scopes() string {
	var have []string
	for _, scope := range granted {
		if e.Fault(scope, "missing_scope") == nil {
			have = append(have, scope)
		}
	}
	return strings.Join(have, ",")
}

// damage applies the faults that lose content without an error.
func (e *Emulator) damage(name string, args raw.Object) {
	if v := raw.Sub(args, "view"); v != nil {
		args = v
	}
	blocks, ok := args["blocks"].([]any)
	if !ok {
		return
	}
	if e.Fault(name, "truncate") != nil {
		args["blocks"] = core.Truncated(blocks)
	}
	if e.Fault(name, "strip") != nil {
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
