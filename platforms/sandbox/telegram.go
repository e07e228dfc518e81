package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// telegramWorld is one bot with its chats. Sandbox.mu guards it.
type telegramWorld struct {
	s         *Sandbox
	chats     map[int64]*telegramChat
	updates   []telegramUpdate
	updateID  int64
	callbacks map[string]*telegramCallback
	webhook   string
	secret    string
	pollers   int64 // number of the newest long poll
	handed    int   // updates given out by getUpdates, repeats included
	wake      chan struct{}
	files     map[string][]byte
	pushing   bool
}

type telegramChat struct {
	ID       int64
	Kind     string // supergroup or private
	Title    string
	User     int64 // of a private chat
	Messages []object
	last     int64
}

type telegramUpdate struct {
	id      int64
	body    object
	expires time.Time
}

// telegramCallback is a press waiting for answerCallbackQuery.
type telegramCallback struct {
	answered chan struct{}
	done     bool
	created  time.Time
	reaction Reaction
}

// How long things wait in the queue of updates; measured in the source of the
// official server.
const (
	telegramCallbackTTL = 150 * time.Second
	telegramMessageTTL  = 24 * time.Hour
	telegramQueryTTL    = time.Minute // answers later than this are refused; reports differ
	telegramPatience    = 10 * time.Second
)

func newTelegramWorld(s *Sandbox) *telegramWorld {
	w := &telegramWorld{s: s, chats: map[int64]*telegramChat{}, updateID: 100000, callbacks: map[string]*telegramCallback{}, wake: make(chan struct{}), files: map[string][]byte{}}
	w.chats[TelegramChat] = &telegramChat{ID: TelegramChat, Kind: "supergroup", Title: "Deploys", last: 10}
	for _, m := range s.members {
		w.chats[m.Telegram] = &telegramChat{ID: m.Telegram, Kind: "private", Title: m.Name, User: m.Telegram}
	}
	return w
}

// telegramFailure is an API error.
type telegramFailure struct {
	code        int
	description string
	parameters  object
}

func badRequest(format string, args ...any) *telegramFailure {
	return &telegramFailure{400, "Bad Request: " + fmt.Sprintf(format, args...), nil}
}

type telegramMethod func(w *telegramWorld, r *http.Request, a telegramArgs) (any, *telegramFailure)

func telegramMethods() map[string]telegramMethod {
	return map[string]telegramMethod{
		"getme": (*telegramWorld).getMe, "getupdates": nil, // served apart: it waits
		"setwebhook": (*telegramWorld).setWebhook, "deletewebhook": (*telegramWorld).deleteWebhook, "getwebhookinfo": (*telegramWorld).webhookInfo,
		"sendmessage": (*telegramWorld).sendMessage, "senddocument": (*telegramWorld).sendDocument,
		"editmessagetext": (*telegramWorld).editMessageText, "editmessagereplymarkup": (*telegramWorld).editMessageReplyMarkup,
		"deletemessage": (*telegramWorld).deleteMessage, "answercallbackquery": (*telegramWorld).answerCallbackQuery,
		"getchat": (*telegramWorld).getChat, "getchatmember": (*telegramWorld).getChatMember, "setmycommands": (*telegramWorld).setMyCommands,
	}
}

func (w *telegramWorld) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/telegram/{bot}/{method}", w.api)
	m.HandleFunc("GET /telegram/files/{id}", func(rw http.ResponseWriter, r *http.Request) {
		w.s.mu.Lock()
		f, ok := w.files[r.PathValue("id")]
		w.s.mu.Unlock()
		if !ok {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = rw.Write(f) // the client has gone
	})
	return m
}

func (w *telegramWorld) api(rw http.ResponseWriter, r *http.Request) {
	answer := func(result any, bad *telegramFailure) {
		if bad == nil {
			writeJSON(rw, 200, object{"ok": true, "result": result})
			return
		}
		body := object{"ok": false, "error_code": bad.code, "description": bad.description}
		if bad.parameters != nil {
			body["parameters"] = bad.parameters
			if n, ok := bad.parameters["retry_after"].(int); ok {
				rw.Header().Set("Retry-After", strconv.Itoa(n))
			}
		}
		writeJSON(rw, bad.code, body)
	}
	if r.PathValue("bot") != "bot"+TelegramToken || w.s.fault("telegram", "", "revoke") != nil {
		answer(nil, &telegramFailure{401, "Unauthorized", nil})
		return
	}
	name := strings.ToLower(r.PathValue("method"))
	limited := func(retry int) { answer(nil, tooMany(retry)) }
	done, writer := w.s.misbehave(rw, r, "telegram", r.PathValue("method"), limited)
	rw = writer
	if done {
		return
	}
	m, known := telegramMethods()[name]
	if !known {
		answer(nil, &telegramFailure{404, "Not Found", nil})
		return
	}
	args, err := telegramParse(r)
	if err != nil {
		answer(nil, badRequest("%s", err.Error()))
		return
	}
	if name == "getupdates" {
		answer(w.getUpdates(r.Context(), args))
		return
	}
	if _, chat := args.values["chat_id"]; chat && w.s.fault("telegram", "", "absent") != nil {
		answer(nil, &telegramFailure{403, "Forbidden: bot is not a member of the supergroup chat", nil})
		return
	}
	if args.denied = w.s.fault("telegram", "", "no_permission") != nil; args.denied && strings.HasPrefix(name, "send") {
		answer(nil, badRequest("not enough rights to send text messages to the chat"))
		return
	}
	method := r.PathValue("method")
	args.truncate, args.strip = w.s.fault("telegram", method, "truncate") != nil, w.s.fault("telegram", method, "strip") != nil
	w.s.mu.Lock()
	if wait := w.pace(name, args); wait > 0 {
		w.s.mu.Unlock()
		limited(int(wait.Seconds()) + 1)
		return
	}
	result, bad := m(w, r, args)
	w.s.mu.Unlock()
	answer(result, bad)
	lose(rw)
}

func tooMany(retry int) *telegramFailure {
	return &telegramFailure{429, fmt.Sprintf("Too Many Requests: retry after %d", retry), object{"retry_after": retry}}
}

// pace counts what Telegram counts: about 30 messages a second, one a second
// and chat in the long run, 20 a minute and group; edits count as messages.
func (w *telegramWorld) pace(name string, a telegramArgs) time.Duration {
	if !strings.HasPrefix(name, "send") && !strings.HasPrefix(name, "edit") {
		return 0
	}
	if wait := w.s.limits.take("telegram", 30, 30); wait > 0 {
		return wait
	}
	chat := a.text("chat_id")
	if strings.HasPrefix(chat, "-") {
		return w.s.limits.take("telegram "+chat, 20./60, 20)
	}
	return w.s.limits.take("telegram "+chat, 1, 10)
}

// telegramArgs are the parameters of a call: texts, or decoded JSON.
type telegramArgs struct {
	values object
	files  map[string]telegramFile
	denied bool // the fault no_permission holds
	// The faults of these names hold.
	truncate, strip bool
}

type telegramFile struct {
	name string
	data []byte
}

func telegramParse(r *http.Request) (telegramArgs, error) {
	a := telegramArgs{values: object{}, files: map[string]telegramFile{}}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	take := func(v url.Values) {
		for k, s := range v {
			a.values[k] = s[0]
		}
	}
	take(r.URL.Query())
	switch kind {
	case "application/json":
		if err := json.NewDecoder(r.Body).Decode(&a.values); err != nil && !errors.Is(err, io.EOF) {
			return a, fmt.Errorf("can't parse JSON object")
		}
	case "multipart/form-data":
		if err := r.ParseMultipartForm(26 << 20); err != nil {
			return a, fmt.Errorf("can't parse multipart")
		}
		take(r.MultipartForm.Value)
		for k, headers := range r.MultipartForm.File {
			f, err := headers[0].Open()
			if err != nil {
				return a, err
			}
			data, err := io.ReadAll(f)
			f.Close()
			if err != nil {
				return a, err
			}
			a.files[k] = telegramFile{headers[0].Filename, data}
		}
	default:
		if err := r.ParseForm(); err != nil {
			return a, fmt.Errorf("can't parse form")
		}
		take(r.PostForm)
	}
	return a, nil
}

func (a telegramArgs) text(key string) string {
	switch v := a.values[key].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func (a telegramArgs) number(key string) int64 {
	n, _ := strconv.ParseInt(a.text(key), 10, 64)
	return n
}

// structure is a parameter that is JSON, in a form as text.
func (a telegramArgs) structure(key string, into any) error {
	v, ok := a.values[key]
	if !ok || v == "" || v == nil {
		return nil
	}
	raw, isText := v.(string)
	if !isText {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		raw = string(b)
	}
	return json.Unmarshal([]byte(raw), into)
}

func telegramBot() object {
	return object{"id": TelegramBotID, "is_bot": true, "first_name": "nod", "username": "nod_sandbox_bot"}
}

func (w *telegramWorld) getMe(*http.Request, telegramArgs) (any, *telegramFailure) {
	me := telegramBot()
	me["can_join_groups"], me["can_read_all_group_messages"], me["supports_inline_queries"] = true, false, false
	return me, nil
}

func (w *telegramWorld) chat(a telegramArgs) (*telegramChat, *telegramFailure) {
	if c := w.chats[a.number("chat_id")]; c != nil {
		return c, nil
	}
	return nil, badRequest("chat not found")
}

func (c *telegramChat) json() object {
	if c.Kind == "private" {
		return object{"id": c.ID, "type": "private", "first_name": c.Title}
	}
	return object{"id": c.ID, "type": c.Kind, "title": c.Title}
}

func (c *telegramChat) find(id int64) int {
	for n, m := range c.Messages {
		if int64(intOf(m["message_id"])) == id {
			return n
		}
	}
	return -1
}

func (w *telegramWorld) answerCallbackQuery(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	cb := w.callbacks[a.text("callback_query_id")]
	if cb == nil || cb.done || time.Since(cb.created) > telegramQueryTTL {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if runes(a.text("text")) > 200 {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	cb.done = true
	cb.reaction = Reaction{OK: true, Toast: a.text("text"), Alert: a.text("show_alert") == "true"}
	close(cb.answered)
	return true, nil
}

func (w *telegramWorld) getChat(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	c, bad := w.chat(a)
	if bad != nil {
		return nil, bad
	}
	return c.json(), nil
}

func (w *telegramWorld) getChatMember(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	c, bad := w.chat(a)
	if bad != nil {
		return nil, bad
	}
	if me := strconv.FormatInt(a.number("user_id"), 10); strings.HasPrefix(TelegramToken, me+":") && c.User == 0 {
		member := object{"status": "member", "user": telegramBot()}
		if a.denied {
			member = object{"status": "restricted", "user": telegramBot(), "is_member": true, "can_send_messages": false}
		}
		return member, nil
	}
	for _, m := range w.s.members {
		if m.Telegram == a.number("user_id") {
			return object{"status": w.telegramStatus(a.number("chat_id"), m), "user": telegramUser(m)}, nil
		}
	}
	return nil, badRequest("user not found")
}

func (w *telegramWorld) setMyCommands(*http.Request, telegramArgs) (any, *telegramFailure) {
	return true, nil
}

func telegramUser(m Member) object {
	return object{"id": m.Telegram, "is_bot": false, "first_name": m.Name, "username": m.Key + "_tg", "language_code": "en"}
}
