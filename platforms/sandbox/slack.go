package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// slackWorld is one Slack workspace with one app. Sandbox.mu guards it.
type slackWorld struct {
	s        *Sandbox
	channels map[string]*slackChannel
	triggers map[string]time.Time // unused ones, and when they expire
	views    map[string]*slackView
	homes    map[string]object   // Home tabs by user
	urls     map[string]slackURL // response URLs by their path
	sockets  map[*slackSocket]bool
	tickets  map[string]bool
	turn     int // which socket gets the next event
	lastTS   int64
}

type slackChannel struct {
	ID       string
	Name     string
	User     string // of a direct message
	Messages []object
	Private  []slackPrivate
}

// slackPrivate is an ephemeral message.
type slackPrivate struct {
	User    string `json:"user"`
	Message object `json:"message"`
}

// slackView is an open modal.
type slackView struct {
	ID     string
	User   string
	View   object
	Errors map[string]string
	Hash   string
	Parent string // the view it was pushed on
	Opened time.Time
}

type slackURL struct {
	user, channel, ts string
	uses              int
	expires           time.Time
}

func newSlackWorld(s *Sandbox) *slackWorld {
	w := &slackWorld{
		s: s, channels: map[string]*slackChannel{}, triggers: map[string]time.Time{}, views: map[string]*slackView{},
		urls: map[string]slackURL{}, homes: map[string]object{}, sockets: map[*slackSocket]bool{}, tickets: map[string]bool{},
	}
	w.channels[SlackChannel] = &slackChannel{ID: SlackChannel, Name: "deploys"}
	w.channels["C0ONCALL02"] = &slackChannel{ID: "C0ONCALL02", Name: "oncall"}
	return w
}

func (w *slackWorld) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/slack/api/{method}", w.api)
	m.HandleFunc("/slack/socket", w.socket)
	m.HandleFunc("POST /slack/response/{key}", w.responseURL)
	return m
}

type slackMethod struct {
	token string // which token: bot or app
	rate  float64
	burst float64
	call  func(w *slackWorld, r *http.Request, a object) object
}

// slackMethods with their tiers; a tier's figure is per minute.
func slackMethods() map[string]slackMethod {
	return map[string]slackMethod{
		"auth.test":             {"bot", 10, 100, (*slackWorld).authTest},
		"apps.connections.open": {"app", 50. / 60, 50, (*slackWorld).connectionsOpen},
		"chat.postMessage":      {"bot", 1, 10, (*slackWorld).postMessage},
		"chat.update":           {"bot", 50. / 60, 50, (*slackWorld).update},
		"chat.delete":           {"bot", 50. / 60, 50, (*slackWorld).delete},
		"chat.postEphemeral":    {"bot", 100. / 60, 100, (*slackWorld).postEphemeral},
		"views.open":            {"bot", 100. / 60, 100, (*slackWorld).viewsOpen},
		"views.push":            {"bot", 100. / 60, 100, (*slackWorld).viewsPush},
		"views.update":          {"bot", 100. / 60, 100, (*slackWorld).viewsUpdate},
		"views.publish":         {"bot", 100. / 60, 100, (*slackWorld).viewsPublish},
		"conversations.info":    {"bot", 50. / 60, 50, (*slackWorld).conversationInfo},
		"conversations.open":    {"bot", 50. / 60, 50, (*slackWorld).conversationOpen},
		"conversations.history": {"bot", 50. / 60, 50, (*slackWorld).history},
		"users.info":            {"bot", 100. / 60, 100, (*slackWorld).usersInfo},
		"usergroups.users.list": {"bot", 20. / 60, 20, (*slackWorld).userGroup},
	}
}

func (w *slackWorld) api(rw http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	limited := func(retry int) {
		if retry > 0 {
			rw.Header().Set("Retry-After", strconv.Itoa(retry))
		}
		writeJSON(rw, http.StatusTooManyRequests, object{"ok": false, "error": "ratelimited"})
	}
	done, rw := w.s.misbehave(rw, r, "slack", name, limited)
	if done {
		return
	}
	m, known := slackMethods()[name]
	if !known {
		writeJSON(rw, 200, object{"ok": false, "error": "unknown_method", "req_method": name})
		return
	}
	args, token, err := slackArgs(r)
	if err != "" {
		writeJSON(rw, 200, object{"ok": false, "error": err})
		return
	}
	if err := w.authorize(m.token, token); err != "" {
		writeJSON(rw, 200, object{"ok": false, "error": err})
		return
	}
	w.s.mu.Lock()
	key := "slack " + name
	if name == "chat.postMessage" {
		key += " " + str(args, "channel")
	}
	if wait := w.s.limits.take(key, m.rate, m.burst); wait > 0 {
		w.s.mu.Unlock()
		limited(int(wait.Seconds()) + 1)
		return
	}
	w.s.mu.Unlock()
	if scope := slackScopes[name]; scope != "" && w.s.fault("slack", scope, "missing_scope") != nil {
		writeJSON(rw, 200, object{"ok": false, "error": "missing_scope", "needed": scope, "provided": w.scopes()})
		return
	}
	if slackInChannel[name] && w.s.fault("slack", "", "absent") != nil {
		writeJSON(rw, 200, slackAbsent(name, args))
		return
	}
	rw.Header().Set("X-OAuth-Scopes", w.scopes())
	if blocks, ok := args["blocks"].([]any); ok {
		if w.s.fault("slack", name, "truncate") != nil {
			args["blocks"] = truncated(blocks)
		}
		if w.s.fault("slack", name, "strip") != nil {
			args["blocks"] = slices.DeleteFunc(blocks, func(b any) bool { o, _ := b.(object); return str(o, "type") == "rich_text" })
		}
	}
	w.s.mu.Lock()
	answer := m.call(w, r, args)
	w.s.mu.Unlock()
	if answer["ok"] == nil {
		answer["ok"] = answer["error"] == nil
	}
	writeJSON(rw, 200, answer)
	lose(rw)
}

func (w *slackWorld) authorize(kind, token string) string {
	if token == "" {
		return "not_authed"
	}
	if w.s.fault("slack", "", "revoke") != nil {
		return "token_revoked"
	}
	switch {
	case kind == "bot" && token == SlackBotToken, kind == "app" && token == SlackAppToken:
		return ""
	case strings.HasPrefix(token, "xapp-") != (kind == "app"):
		return "not_allowed_token_type"
	}
	return "invalid_auth"
}

// slackArgs reads a form or JSON body; in a form, structured arguments are
// JSON texts.
func slackArgs(r *http.Request) (object, string, string) {
	args := object{}
	token := bearer(r)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil && !errors.Is(err, io.EOF) { // no body: no arguments
			return nil, "", "invalid_json"
		}
		return args, token, ""
	}
	if err := r.ParseMultipartForm(8 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, "", "invalid_form_data"
	}
	for k, v := range r.Form {
		args[k] = v[0]
		switch k {
		case "token":
			token = v[0]
		case "blocks", "view", "attachments", "metadata":
			var parsed any
			if v[0] == "" {
				continue
			}
			if err := json.Unmarshal([]byte(v[0]), &parsed); err != nil {
				return nil, "", "invalid_arguments"
			}
			args[k] = parsed
		case "reply_broadcast", "unfurl_links", "unfurl_media":
			args[k] = v[0] == "true" || v[0] == "1"
		}
	}
	return args, token, ""
}

// slackScopes are the scopes that methods need; slackGranted are all that the
// app has.
var (
	slackScopes = map[string]string{
		"chat.postMessage": "chat:write", "chat.update": "chat:write", "conversations.info": "channels:read", "conversations.open": "im:write",
		"users.info": "users:read", "usergroups.users.list": "usergroups:read",
	}
	slackGranted = []string{"chat:write", "im:write", "commands", "users:read", "users:read.email", "usergroups:read", "channels:read", "groups:read"}
	// slackInChannel are the methods that need the bot in the channel.
	slackInChannel = map[string]bool{"chat.postMessage": true, "conversations.info": true}
)

// scopes are those of the bot token, as the header has them.
func (w *slackWorld) scopes() string {
	var have []string
	for _, scope := range slackGranted {
		if w.s.fault("slack", scope, "missing_scope") == nil {
			have = append(have, scope)
		}
	}
	return strings.Join(have, ",")
}

// slackAbsent is what a bot is answered that is not in a channel.
func slackAbsent(method string, args object) object {
	if method == "conversations.info" {
		return object{"ok": true, "channel": object{"id": str(args, "channel"), "name": "deploys", "is_member": false, "is_im": false}}
	}
	return object{"ok": false, "error": "not_in_channel"}
}

func slackError(code string) object { return object{"error": code} }

func (w *slackWorld) authTest(r *http.Request, _ object) object {
	return object{"url": "http://" + r.Host + "/", "team": "Sandbox", "team_id": "T0SANDBOX", "user": "nod", "user_id": SlackBotUser, "bot_id": "B0SANDBOX", "app_id": "A0SANDBOX"}
}

func (w *slackWorld) conversationInfo(_ *http.Request, a object) object {
	c := w.channels[str(a, "channel")]
	if c == nil {
		return slackError("channel_not_found")
	}
	return object{"channel": object{"id": c.ID, "name": c.Name, "is_member": true, "is_im": c.User != ""}}
}

func (w *slackWorld) conversationOpen(_ *http.Request, a object) object {
	user, _, _ := strings.Cut(str(a, "users"), ",")
	c := w.channel(user)
	if c == nil {
		return slackError("user_not_found")
	}
	return object{"channel": object{"id": c.ID}}
}

func (w *slackWorld) history(_ *http.Request, a object) object {
	c := w.channels[str(a, "channel")]
	if c == nil {
		return slackError("channel_not_found")
	}
	messages := []any{}
	for n := len(c.Messages) - 1; n >= 0 && len(messages) < 100; n-- {
		messages = append(messages, clone(c.Messages[n]))
	}
	return object{"messages": messages, "has_more": false}
}

func (w *slackWorld) usersInfo(_ *http.Request, a object) object {
	for _, m := range w.s.members {
		if m.Slack == str(a, "user") {
			return object{"user": object{"id": m.Slack, "name": m.Key, "real_name": m.Name, "team_id": "T0SANDBOX", "is_email_confirmed": true,
				"profile": object{"real_name": m.Name, "email": m.Key + "@example.com"}}}
		}
	}
	return slackError("user_not_found")
}

func (w *slackWorld) connectionsOpen(r *http.Request, _ object) object {
	ticket := uuid.NewString()
	w.tickets[ticket] = true
	q := url.Values{"ticket": {ticket}, "app_id": {"A0SANDBOX"}}
	return object{"url": "ws://" + r.Host + "/slack/socket?" + q.Encode()}
}
