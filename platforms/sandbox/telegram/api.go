package telegram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// failure is an error of the API.
type failure struct {
	code        int
	description string
	parameters  raw.Object
}

func badRequest(format string, args ...any) *failure {
	return &failure{400, "Bad Request: " + fmt.Sprintf(format, args...), nil}
}

// method is a method of the Bot API. Its function runs with the lock held.
type method struct {
	chat bool // the call names a chat, which must exist
	call func(e *Emulator, a arguments) (any, *failure)
}

// methods are the methods by their names in lower case. The method getUpdates
// waits, so it must not hold the lock.
var methods = map[string]method{
	"getme": {call: (*Emulator).getMe}, "getchat": {true, (*Emulator).getChat}, "getchatmember": {true, (*Emulator).getMember},
	"setwebhook": {call: (*Emulator).setWebhook}, "deletewebhook": {call: (*Emulator).deleteWebhook},
	"getwebhookinfo": {call: (*Emulator).webhookInfo}, "setmycommands": {call: (*Emulator).setCommands},
	"sendmessage": {call: (*Emulator).send}, "senddocument": {call: (*Emulator).sendDocument},
	"sendchataction": {true, (*Emulator).sendAction}, "answercallbackquery": {call: (*Emulator).answer},
	"editmessagetext": {true, edit((*Emulator).rewriteText)}, "editmessagemedia": {true, edit((*Emulator).rewriteMedia)},
	"editmessagereplymarkup": {true, edit((*Emulator).keepContent)},
	"deletemessage":          {true, (*Emulator).delete}, "deleteephemeralmessage": {true, (*Emulator).deleteEphemeral},
}

func write(rw http.ResponseWriter, result any, bad *failure) {
	rw.Header().Set("Content-Type", "application/json")
	if bad == nil {
		raw.Write(rw, 200, raw.Object{"ok": true, "result": result})
		return
	}
	body := raw.Object{"ok": false, "error_code": bad.code, "description": bad.description}
	if bad.parameters != nil {
		body["parameters"] = bad.parameters
		if n, ok := bad.parameters["retry_after"].(int); ok {
			rw.Header().Set("Retry-After", strconv.Itoa(n))
		}
	}
	raw.Write(rw, bad.code, body)
}

func tooMany(retry int) *failure {
	return &failure{429, fmt.Sprintf("Too Many Requests: retry after %d", retry), raw.Object{"retry_after": retry}}
}

func (e *Emulator) serve(rw http.ResponseWriter, r *http.Request) {
	if r.PathValue("bot") != "bot"+Token || e.Has("revoke") {
		write(rw, nil, &failure{401, "Unauthorized", nil})
		return
	}
	limited := func(retry int) { write(rw, nil, tooMany(retry)) }
	failed := func(status int, description string) {
		if code, rest, ok := strings.Cut(description, " "); ok {
			if n, err := strconv.Atoi(code); err == nil {
				status, description = n, rest
			}
		}
		write(rw, nil, &failure{status, cmp.Or(description, http.StatusText(status)), nil})
	}
	if rw = e.Misbehave(rw, r, r.PathValue("method"), limited, failed); rw == nil {
		return
	}
	name := strings.ToLower(r.PathValue("method"))
	m, known := methods[name]
	if !known && name != "getupdates" {
		write(rw, nil, &failure{404, "Not Found: method not found", nil})
		return
	}
	args, err := parse(r)
	if err != nil {
		write(rw, nil, badRequest("%s", err.Error()))
		return
	}
	if name == "getupdates" { // getUpdates waits, so it must not hold the lock
		result, bad := e.getUpdates(r.Context(), args)
		write(rw, result, bad)
		return
	}
	if bad := e.barred(name, &args); bad != nil {
		write(rw, nil, bad)
		return
	}
	args.server = e.server()
	args.truncate = e.Fault(r.PathValue("method"), "truncate") != nil
	args.strip = e.Fault(r.PathValue("method"), "strip") != nil
	if wait := e.pace(name, args); wait > 0 {
		limited(wait)
		return
	}
	accepted := e.Recorder.Watch(Name, name, args.sent())
	result, bad := e.run(m, args)
	if bad == nil && !args.truncate && !args.strip {
		accepted(result)
	}
	write(rw, result, bad)
	core.Lose(rw)
}

// run calls a method and returns the result in the form that a bot gets.
func (e *Emulator) run(m method, args arguments) (result any, bad *failure) {
	e.Lock()
	defer e.Unlock()
	if m.chat {
		if args.chat, bad = e.chat(args); bad != nil {
			return nil, bad
		}
	}
	result, bad = m.call(e, args)
	return public(result), bad
}

// barred returns the error for a bot that is not in the chat or may not post
// there, or nil. It also sets the argument denied.
func (e *Emulator) barred(name string, args *arguments) *failure {
	if _, chat := args.values["chat_id"]; chat && e.Has("absent") {
		return &failure{403, "Forbidden: bot is not a member of the supergroup chat", nil}
	}
	if args.denied = e.Has("no_permission"); args.denied && strings.HasPrefix(name, "send") {
		return badRequest("not enough rights to send text messages to the chat")
	}
	return nil
}

// pace counts messages and edits in all chats and in each chat. It returns the
// number of seconds that a caller must wait, or 0.
func (e *Emulator) pace(name string, a arguments) int {
	if !strings.HasPrefix(name, "send") && !strings.HasPrefix(name, "edit") {
		return 0
	}
	e.Lock()
	defer e.Unlock()
	wait := e.Limits.TakeIn("telegram", globalRate.calls, globalRate.period)
	if wait == 0 {
		id, r := a.text("chat_id"), privateRate
		if strings.HasPrefix(id, "-") {
			r = groupRate
		}
		wait = e.Limits.TakeIn("telegram "+id, r.calls, r.period)
	}
	if wait == 0 {
		return 0
	}
	return int(wait.Seconds()) + 1
}

// arguments are the parameters of a call: strings or decoded JSON.
type arguments struct {
	values raw.Object
	files  map[string]file
	chat   *chat // chat of a method that needs one
	denied bool  // whether the fault no_permission applies
	server int   // version of the server
	// Each of these reports whether the fault with its name applies.
	truncate, strip bool
}

type file struct {
	name string
	data []byte
}

func parse(r *http.Request) (arguments, error) {
	a := arguments{values: raw.Object{}, files: map[string]file{}}
	a.take(r.URL.Query())
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case "application/json":
		if err := json.NewDecoder(r.Body).Decode(&a.values); err != nil && !errors.Is(err, io.EOF) {
			return a, errors.New("can't parse JSON object")
		}
	case "multipart/form-data":
		if err := r.ParseMultipartForm(26 << 20); err != nil {
			return a, errors.New("can't parse multipart")
		}
		a.take(r.MultipartForm.Value)
		return a, a.takeFiles(r)
	default:
		if err := r.ParseForm(); err != nil {
			return a, errors.New("can't parse form")
		}
		a.take(r.PostForm)
	}
	return a, nil
}

func (a arguments) take(v url.Values) {
	for k, s := range v {
		a.values[k] = s[0]
	}
}

func (a arguments) takeFiles(r *http.Request) error {
	for k, headers := range r.MultipartForm.File {
		f, err := headers[0].Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return err
		}
		a.files[k] = file{headers[0].Filename, data}
	}
	return nil
}

// sent returns the parameters, and adds a reference for each file without one.
func (a arguments) sent() raw.Object {
	out := maps.Clone(a.values)
	for name := range a.files {
		if !strings.Contains(a.text("media"), "attach://"+name) {
			out[name] = "attach://" + name
		}
	}
	return out
}

func (a arguments) text(key string) string {
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

func (a arguments) number(key string) int64 { return number(a.text(key)) }

// structure decodes a parameter that is JSON. In a form, it is a string.
func (a arguments) structure(key string, into any) error {
	v, ok := a.values[key]
	if !ok || v == "" || v == nil {
		return nil
	}
	encoded, isText := v.(string)
	if !isText {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		encoded = string(b)
	}
	return json.Unmarshal([]byte(encoded), into)
}

// object decodes a parameter that is a JSON object. What describes it in the
// error. The object is nil if the parameter is missing.
func (a arguments) object(key, what string) (o raw.Object, bad *failure) {
	if err := a.structure(key, &o); err != nil {
		return nil, badRequest("can't parse %s JSON object", what)
	}
	return o, nil
}
