package discord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// route is a route of the REST API. Bot routes need the bot's token.
type route struct {
	pattern string
	bot     bool
	sees    bool // the bot must see the channel
	handle  handler
}

// handler answers a request. It runs with the lock held, after the guild, the
// channel and the message in the path were found. It returns a result, a
// failure, or nil if there is no content.
type handler func(e *Emulator, c *call) any

// call is one request.
type call struct {
	*http.Request
	args    raw.Object
	files   []file
	status  int        // of a result
	channel *channel   // channel in the path of the route
	message raw.Object // message in the path; nil if it is ephemeral
	// Each of these reports whether the fault with its name applies. The fault
	// for spent has the name "sessions".
	endpoint, spent, rival bool
}

// file is an uploaded file. Its number is the n in the name files[n].
type file struct {
	number string
	name   string
	data   []byte
}

const (
	// responding is the route for the first response to an interaction.
	responding = "POST /interactions/{id}/{token}/callback"
	ofMessage  = "/channels/{channel}/messages/{message}"
)

var routes = []route{
	{pattern: "GET /gateway", handle: (*Emulator).getGateway},
	{pattern: "GET /gateway/bot", bot: true, handle: (*Emulator).getGateway},
	{pattern: "GET /users/@me", bot: true, handle: (*Emulator).me},
	{pattern: "GET /oauth2/applications/@me", bot: true, handle: (*Emulator).application},
	{pattern: "GET /applications/@me", bot: true, handle: (*Emulator).application},
	{pattern: "POST /applications/{app}/commands", bot: true, handle: (*Emulator).createCommand},
	{pattern: "POST /users/@me/channels", bot: true, handle: (*Emulator).createDM},
	{pattern: "GET /guilds/{guild}/members/{user}", bot: true, handle: (*Emulator).getMember},
	{pattern: "GET /guilds/{guild}", bot: true, handle: (*Emulator).getGuild},
	{pattern: "GET /guilds/{guild}/roles", bot: true, handle: (*Emulator).getRoles},
	{pattern: "GET /users/{user}", bot: true, handle: (*Emulator).getUser},
	{pattern: "GET /channels/{channel}", bot: true, handle: (*Emulator).getChannel, sees: true},
	{pattern: "PATCH /channels/{channel}", bot: true, handle: (*Emulator).modify},
	{pattern: "POST /channels/{channel}/messages", bot: true, handle: (*Emulator).createMessage, sees: true},
	{pattern: "GET " + ofMessage, bot: true, handle: (*Emulator).getMessage},
	{pattern: "PATCH " + ofMessage, bot: true, handle: (*Emulator).editMessage, sees: true},
	{pattern: "DELETE " + ofMessage, bot: true, handle: (*Emulator).deleteMessage},
	{pattern: "POST " + ofMessage + "/threads", bot: true, handle: (*Emulator).createThread},
	{pattern: responding, handle: (*Emulator).callback},
	{pattern: "POST /webhooks/{app}/{token}", handle: (*Emulator).followUp},
	{pattern: "PATCH /webhooks/{app}/{token}/messages/{message}", handle: (*Emulator).editResponse},
}

func (e *Emulator) addRoutes() {
	e.mux.HandleFunc("/discord/gateway", e.socket)
	e.mux.HandleFunc("/discord/gateway/", e.socket) // SDKs add a slash
	for _, r := range routes {
		method, path, _ := strings.Cut(r.pattern, " ")
		for _, version := range []string{"v9", "v10"} {
			e.mux.HandleFunc(method+" /discord/api/"+version+path, func(rw http.ResponseWriter, req *http.Request) {
				e.serve(rw, req, r)
			})
		}
	}
	e.mux.HandleFunc("/discord/", func(rw http.ResponseWriter, _ *http.Request) { notFound.write(rw) })
	e.mux.Handle("GET /discord/files/{id}/{name}", &e.files)
}

func (e *Emulator) serve(rw http.ResponseWriter, r *http.Request, rt route) {
	limited := func(retry int) { writeLimited(rw, time.Duration(retry)*time.Second, false) }
	failed := func(status int, name string) { injected(status, name).write(rw) }
	if rw = e.Misbehave(rw, r, rt.pattern, limited, failed); rw == nil {
		return
	}
	if rt.bot && (r.Header.Get("Authorization") != "Bot "+Token || e.revoked()) {
		answer(rw, 401, raw.Object{"message": "401: Unauthorized", "code": 0})
		return
	}
	c := &call{Request: r, status: http.StatusOK}
	if bad := c.read(); bad != nil {
		bad.write(rw)
		return
	}
	if rt.bot && !e.paced(rw, rt, r.PathValue("channel")) { // rate limits do not apply to interaction routes
		return
	}
	if c.PathValue("channel") != "" && rt.bot && e.Has("absent") {
		noAccess.write(rw)
		return
	}
	accepted := e.Recorder.Watch(Name, rt.pattern, c.args)
	c.endpoint, c.spent = e.Has("endpoint"), e.Has("sessions")
	c.rival = rt.pattern == responding && e.Has("rival")
	e.Lock()
	result := e.locate(c, rt)
	if result == nil {
		result = rt.handle(e, c)
	}
	e.Unlock()
	switch result := result.(type) {
	case *failure:
		result.write(rw)
	case nil:
		accepted(nil)
		rw.WriteHeader(http.StatusNoContent)
	default:
		accepted(result)
		answer(rw, c.status, result)
	}
	core.Lose(rw)
}

// locate finds the guild, the channel and the message in the path of a route. It
// returns a failure, or nil.
func (e *Emulator) locate(c *call, rt route) any {
	guild, id := c.PathValue("guild"), c.PathValue("channel")
	c.channel = e.channels[id]
	switch {
	case guild != "" && guild != Guild:
		return unknownGuild
	case id == "":
		return nil
	case c.channel == nil:
		return unknownChannel
	}
	c.message = c.channel.Message(c.PathValue("message"))
	switch {
	case c.PathValue("message") != "" && c.message == nil:
		return unknownMessage
	case rt.sees && !e.may(c.channel, "VIEW_CHANNEL"):
		return noAccess
	}
	return nil
}

// paced counts a request, and reports whether the request is within the limits.
// If not, it responds with an error.
func (e *Emulator) paced(rw http.ResponseWriter, rt route, channel string) bool {
	e.Lock()
	defer e.Unlock()
	if wait := e.Limits.TakeIn("discord", globalRate.calls, globalRate.period); wait > 0 {
		writeLimited(rw, wait, true)
		return false
	}
	key := "discord " + rt.pattern + " " + channel
	if wait := e.Limits.TakeIn(key, routeRate.calls, routeRate.period); wait > 0 &&
		strings.Contains(rt.pattern, "/channels/") {
		writeLimited(rw, wait, false)
		return false
	}
	if left, used := e.Limits.Left(key); used {
		h := rw.Header()
		h.Set("X-RateLimit-Limit", strconv.Itoa(routeRate.calls))
		h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
		reset := e.Limits.Reset(key, routeRate.period)
		h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", reset.Seconds()))
		h.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(time.Now().Add(reset).UnixMilli())/1000))
		h.Set("X-RateLimit-Bucket", "sandbox")
	}
	return true
}

func writeLimited(rw http.ResponseWriter, wait time.Duration, global bool) {
	h := rw.Header()
	h.Set("Retry-After", strconv.Itoa(int(wait.Seconds()+0.999)))
	h.Set("X-RateLimit-Scope", "user")
	if global {
		h.Set("X-RateLimit-Global", "true")
		h.Set("X-RateLimit-Scope", "global")
	} else {
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", wait.Seconds()))
	}
	answer(rw, http.StatusTooManyRequests, raw.Object{
		"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": global,
	})
}

// read decodes a JSON or multipart body.
func (c *call) read() *failure {
	c.args = raw.Object{}
	kind, params, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	body, err := io.ReadAll(c.Body)
	if err != nil {
		return &failure{413, 40005, "Request entity too large", nil}
	}
	if kind == "multipart/form-data" {
		return c.readMultipart(body, params["boundary"])
	}
	if len(body) == 0 || c.Method == http.MethodGet {
		return nil
	}
	if kind != "application/json" {
		return &failure{400, 50035, "Invalid Form Body", raw.Object{"_errors": []any{raw.Object{
			"code": "CONTENT_TYPE_INVALID", "message": "Expected \"Content-Type\" header to be one of {'application/json'}.",
		}}}}
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return &failure{400, 50109, "The request body contains invalid JSON.", nil}
	}
	if o, ok := v.(raw.Object); ok {
		c.args = o
	} else {
		c.args = raw.Object{"": v}
	}
	return nil
}

func (c *call) readMultipart(body []byte, boundary string) *failure {
	invalid := &failure{400, 50035, "Invalid Form Body", nil}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return invalid
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return invalid
		}
		if p.FormName() == "payload_json" {
			if json.Unmarshal(data, &c.args) != nil {
				return invalid
			}
			continue
		}
		if p.FileName() != "" {
			number := strings.TrimSuffix(strings.TrimPrefix(p.FormName(), "files["), "]")
			c.files = append(c.files, file{number, p.FileName(), data})
		}
	}
}
