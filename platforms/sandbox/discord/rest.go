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

// rest serves the requests of bots.
type rest struct {
	*guild
	table []route
	gw    *gateway
}

// route is a route of the REST API. Bot routes need the bot's token.
type route struct {
	pattern string
	bot     bool
	handle  handler
}

// handler answers a request. It runs with the lock held.
type handler func(c *call) (status int, result any, bad *failure)

// call is one request.
type call struct {
	*http.Request
	args    raw.Object
	files   []file
	channel *channel // channel in the path of the route
	// Whether the faults with these names apply. The name of the fault for
	// spent is sessions.
	endpoint, spent, rival bool
}

// file is an uploaded file. Its number is the n in the name files[n].
type file struct {
	number string
	name   string
	data   []byte
}

// callback is the route for the first response to an interaction.
const callback = "POST /interactions/{id}/{token}/callback"

func newREST(g *guild, gw *gateway, inter interactionsAPI) rest {
	apps, guilds, messages := applicationsAPI{g}, guildsAPI{g}, messagesAPI{g, gw}
	const ofMessage = "/channels/{channel}/messages/{message}"
	return rest{g, []route{
		{"GET /gateway", false, apps.gateway},
		{"GET /gateway/bot", true, apps.gateway},
		{"GET /users/@me", true, apps.me},
		{"GET /oauth2/applications/@me", true, apps.application},
		{"GET /applications/@me", true, apps.application},
		{"POST /applications/{app}/commands", true, commandsAPI{g}.post},
		{"POST /users/@me/channels", true, guilds.createDM},
		{"GET /guilds/{guild}/members/{user}", true, guilds.getMember},
		{"GET /guilds/{guild}", true, guilds.getGuild},
		{"GET /guilds/{guild}/roles", true, guilds.getRoles},
		{"GET /users/{user}", true, guilds.getUser},
		{"GET /channels/{channel}", true, guilds.getChannel},
		{"PATCH /channels/{channel}", true, messages.modify},
		{"POST /channels/{channel}/messages", true, messages.create},
		{"GET " + ofMessage, true, messages.get},
		{"PATCH " + ofMessage, true, messages.edit},
		{"DELETE " + ofMessage, true, messages.delete},
		{"POST " + ofMessage + "/threads", true, messages.createThread},
		{callback, false, inter.callback},
		{"POST /webhooks/{app}/{token}", false, inter.followUp},
		{"PATCH /webhooks/{app}/{token}/messages/{message}", false, inter.edit},
	}, gw}
}

func (api rest) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("/discord/gateway", api.gw.serve)
	m.HandleFunc("/discord/gateway/", api.gw.serve) // SDKs add a slash
	for _, r := range api.table {
		method, path, _ := strings.Cut(r.pattern, " ")
		for _, version := range []string{"v9", "v10"} {
			m.HandleFunc(method+" /discord/api/"+version+path, func(rw http.ResponseWriter, req *http.Request) {
				api.serve(rw, req, r)
			})
		}
	}
	m.HandleFunc("/discord/", func(rw http.ResponseWriter, _ *http.Request) { notFound.write(rw) })
	m.Handle("GET /discord/files/{id}/{name}", &api.files)
	return m
}

func (api rest) serve(rw http.ResponseWriter, r *http.Request, rt route) {
	limited := func(retry int) { writeLimited(rw, time.Duration(retry)*time.Second, false) }
	failed := func(status int, name string) { injected(status, name).write(rw) }
	if rw = api.Misbehave(rw, r, rt.pattern, limited, failed); rw == nil {
		return
	}
	if rt.bot && (r.Header.Get("Authorization") != "Bot "+Token || api.revoked()) {
		answer(rw, 401, raw.Object{"message": "401: Unauthorized", "code": 0})
		return
	}
	c := &call{Request: r}
	if bad := c.read(); bad != nil {
		bad.write(rw)
		return
	}
	if rt.bot && !api.paced(rw, rt, r.PathValue("channel")) { // rate limits do not apply to interaction routes
		return
	}
	if c.PathValue("channel") != "" && rt.bot && api.Has("absent") {
		noAccess.write(rw)
		return
	}
	accepted := api.Recorder.Watch(Name, rt.pattern, c.args)
	c.endpoint, c.spent = api.Has("endpoint"), api.Has("sessions")
	c.rival = rt.pattern == callback && api.Has("rival")
	api.Lock()
	status, result, bad := 0, any(nil), api.locate(c)
	if bad == nil {
		status, result, bad = rt.handle(c)
	}
	api.Unlock()
	switch {
	case bad != nil:
		bad.write(rw)
	case result == nil:
		accepted(nil)
		rw.WriteHeader(status)
	default:
		accepted(result)
		answer(rw, status, result)
	}
	core.Lose(rw)
}

// locate finds the guild and the channel in the path of a route.
func (api rest) locate(c *call) *failure {
	if id := c.PathValue("guild"); id != "" && id != Guild {
		return unknownGuild
	}
	id := c.PathValue("channel")
	if c.channel = api.channels[id]; id != "" && c.channel == nil {
		return unknownChannel
	}
	return nil
}

// paced counts a request, and reports whether the request is within the limits.
// If not, it responds with an error.
func (api rest) paced(rw http.ResponseWriter, rt route, channel string) bool {
	api.Lock()
	defer api.Unlock()
	if wait := api.Limits.TakeIn("discord", globalRate.calls, globalRate.period); wait > 0 {
		writeLimited(rw, wait, true)
		return false
	}
	key := "discord " + rt.pattern + " " + channel
	if wait := api.Limits.TakeIn(key, routeRate.calls, routeRate.period); wait > 0 &&
		strings.Contains(rt.pattern, "/channels/") {
		writeLimited(rw, wait, false)
		return false
	}
	if left, used := api.Limits.Left(key); used {
		h := rw.Header()
		h.Set("X-RateLimit-Limit", strconv.Itoa(routeRate.calls))
		h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
		reset := api.Limits.Reset(key, routeRate.period)
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
