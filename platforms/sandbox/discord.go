package sandbox

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
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
)

// discordWorld is one Discord guild with one application. Sandbox.mu guards it.
type discordWorld struct {
	s            *Sandbox
	key          ed25519.PrivateKey
	channels     map[string]*discordChannel
	interactions map[string]*discordInteraction // by token
	modals       map[string]*discordModal       // by id
	nonces       map[string]string              // nonce → message id
	sessions     map[string]*discordSession
	files        map[string][]byte
	attached     map[string][]object // by message: its attachments, also those that its components show
	noEmbeds     map[string]bool     // users whose client shows no embeds
	commands     map[string]object   // by name
	lastID       int64
}

type discordChannel struct {
	ID       string
	Name     string
	Kind     int // 0 text, 1 DM, 11 thread
	Parent   string
	User     string // of a DM
	Messages []object
	Private  []discordPrivate
}

// discordPrivate is an ephemeral message.
type discordPrivate struct {
	User    string `json:"user"`
	Message object `json:"message"`
}

type discordModal struct {
	ID      string
	User    string
	Channel string
	Data    object
	Message object // the message whose component opened it
}

// snowflakeEpoch is Discord's.
const snowflakeEpoch = 1420070400000

func newDiscordWorld(s *Sandbox) *discordWorld {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic("sandbox: no random numbers: " + err.Error())
	}
	w := &discordWorld{
		s: s, key: key, channels: map[string]*discordChannel{}, interactions: map[string]*discordInteraction{},
		modals: map[string]*discordModal{}, nonces: map[string]string{}, sessions: map[string]*discordSession{}, files: map[string][]byte{},
		commands: map[string]object{}, attached: map[string][]object{}, noEmbeds: map[string]bool{},
	}
	w.channels[DiscordChannel] = &discordChannel{ID: DiscordChannel, Name: "deploys"}
	w.channels["100000000000000003"] = &discordChannel{ID: "100000000000000003", Name: "oncall"}
	return w
}

func (w *discordWorld) snowflake() string {
	w.lastID = max(w.lastID+1, (time.Now().UnixMilli()-snowflakeEpoch)<<22)
	return strconv.FormatInt(w.lastID, 10)
}

// discordFailure is an API error. Its JSON code 0 means none.
type discordFailure struct {
	status  int
	code    int
	message string
	errors  object
}

func (f *discordFailure) body() object {
	o := object{"code": f.code, "message": f.message}
	if f.errors != nil {
		o["errors"] = f.errors
	}
	return o
}

var (
	discordNotFound       = &discordFailure{404, 0, "404: Not Found", nil}
	discordUnknownChannel = &discordFailure{404, 10003, "Unknown Channel", nil}
	discordUnknownMessage = &discordFailure{404, 10008, "Unknown Message", nil}
	discordUnknownIA      = &discordFailure{404, 10062, "Unknown interaction", nil}
	discordAcknowledged   = &discordFailure{400, 40060, "Interaction has already been acknowledged.", nil}
	discordBadToken       = &discordFailure{401, 50027, "Invalid Webhook Token", nil}
	discordNoAccess       = &discordFailure{403, 50001, "Missing Access", nil}
	discordNotAllowed     = &discordFailure{403, 50013, "Missing Permissions", nil}
)

// discordCall is one REST request.
type discordCall struct {
	*http.Request
	args  object
	files []discordFile
	// endpoint and spent tell that the faults of these names hold.
	endpoint, spent bool
}

// discordFile is an uploaded file; its number is that of its field files[n].
type discordFile struct {
	number string
	name   string
	data   []byte
}

type discordHandler func(c *discordCall) (status int, answer any, bad *discordFailure)

func (w *discordWorld) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/discord/gateway/", w.gateway) // SDKs add a slash
	handle := func(pattern string, auth bool, h discordHandler) {
		method, path, _ := strings.Cut(pattern, " ")
		for _, version := range []string{"v9", "v10"} {
			m.HandleFunc(method+" /discord/api/"+version+path, func(rw http.ResponseWriter, r *http.Request) { w.serve(rw, r, method+" "+path, auth, h) })
		}
	}
	m.HandleFunc("/discord/gateway", w.gateway)
	handle("GET /gateway", false, w.getGateway)
	handle("GET /gateway/bot", true, w.getGateway)
	handle("GET /users/@me", true, w.getMe)
	handle("GET /oauth2/applications/@me", true, w.getApplication)
	handle("GET /applications/@me", true, w.getApplication)
	handle("POST /applications/{app}/commands", true, w.postCommand)
	handle("PUT /applications/{app}/commands", true, w.putCommands)
	handle("PUT /applications/{app}/guilds/{guild}/commands", true, w.putCommands)
	handle("POST /users/@me/channels", true, w.createDM)
	handle("GET /guilds/{guild}/members/{user}", true, w.getGuildMember)
	handle("GET /guilds/{guild}", true, w.getGuild)
	handle("GET /channels/{channel}", true, w.getChannel)
	handle("GET /channels/{channel}/messages", true, w.getMessages)
	handle("POST /channels/{channel}/messages", true, w.createMessage)
	handle("GET /channels/{channel}/messages/{message}", true, w.getMessage)
	handle("PATCH /channels/{channel}/messages/{message}", true, w.editMessage)
	handle("DELETE /channels/{channel}/messages/{message}", true, w.deleteMessage)
	handle("POST /channels/{channel}/messages/{message}/threads", true, w.createThread)
	handle("POST /interactions/{id}/{token}/callback", false, w.callback)
	handle("POST /webhooks/{app}/{token}", false, w.followUp)
	handle("GET /webhooks/{app}/{token}/messages/{message}", false, w.getOriginal)
	handle("PATCH /webhooks/{app}/{token}/messages/{message}", false, w.editOriginal)
	handle("DELETE /webhooks/{app}/{token}/messages/{message}", false, w.deleteOriginal)
	m.HandleFunc("/discord/", func(rw http.ResponseWriter, _ *http.Request) {
		writeJSON(rw, 404, discordNotFound.body())
	})
	m.HandleFunc("GET /discord/files/{id}/{name}", func(rw http.ResponseWriter, r *http.Request) {
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

func (w *discordWorld) serve(rw http.ResponseWriter, r *http.Request, route string, auth bool, h discordHandler) {
	limited := func(wait time.Duration, global bool) {
		rw.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds()+0.999)))
		rw.Header().Set("X-RateLimit-Scope", "user")
		if global {
			rw.Header().Set("X-RateLimit-Global", "true")
			rw.Header().Set("X-RateLimit-Scope", "global")
		} else {
			rw.Header().Set("X-RateLimit-Remaining", "0")
			rw.Header().Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", wait.Seconds()))
		}
		writeJSON(rw, 429, object{"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": global})
	}
	method, path, _ := strings.Cut(route, " ")
	done, rw := w.s.misbehave(rw, r, "discord", method+" "+path, func(retry int) { limited(time.Duration(retry)*time.Second, false) })
	if done {
		return
	}
	if auth && (r.Header.Get("Authorization") != "Bot "+DiscordToken || w.s.fault("discord", "", "revoke") != nil) {
		writeJSON(rw, 401, object{"message": "401: Unauthorized", "code": 0})
		return
	}
	c := &discordCall{Request: r}
	if bad := c.read(); bad != nil {
		writeJSON(rw, bad.status, bad.body())
		return
	}
	w.s.mu.Lock()
	if auth { // interaction endpoints are not bound by these
		if wait := w.s.limits.take("discord", 50, 50); wait > 0 {
			w.s.mu.Unlock()
			limited(wait, true)
			return
		}
		key := "discord " + route + " " + r.PathValue("channel")
		if wait := w.s.limits.take(key, 1, 5); wait > 0 && strings.Contains(route, "/channels/") {
			w.s.mu.Unlock()
			limited(wait, false)
			return
		}
		if b := w.s.limits.buckets[key]; b != nil {
			rw.Header().Set("X-RateLimit-Limit", "5")
			rw.Header().Set("X-RateLimit-Remaining", strconv.Itoa(int(b.tokens)))
			rw.Header().Set("X-RateLimit-Reset-After", "1.000")
			rw.Header().Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(time.Now().UnixMilli())/1000+1))
			rw.Header().Set("X-RateLimit-Bucket", "sandbox")
		}
	}
	w.s.mu.Unlock()
	if bad := w.barred(c, auth); bad != nil {
		writeJSON(rw, bad.status, bad.body())
		return
	}
	w.s.mu.Lock()
	status, answer, bad := h(c)
	w.s.mu.Unlock()
	switch {
	case bad != nil:
		writeJSON(rw, bad.status, bad.body())
	case answer == nil:
		rw.WriteHeader(status)
	default:
		writeJSON(rw, status, answer)
	}
	lose(rw)
}

// barred is what a bot is refused that is not in a channel; it notes the other
// faults of the setup.
func (w *discordWorld) barred(c *discordCall, auth bool) *discordFailure {
	if c.PathValue("channel") != "" && auth && w.s.fault("discord", "", "absent") != nil {
		return discordNoAccess
	}
	c.endpoint, c.spent = w.s.fault("discord", "", "endpoint") != nil, w.s.fault("discord", "", "sessions") != nil
	return nil
}

// read decodes a JSON or multipart body.
func (c *discordCall) read() *discordFailure {
	c.args = object{}
	kind, params, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	body, err := io.ReadAll(c.Body)
	if err != nil {
		return &discordFailure{413, 40005, "Request entity too large", nil}
	}
	if kind == "multipart/form-data" {
		return c.readMultipart(body, params["boundary"])
	}
	if len(body) == 0 || c.Method == http.MethodGet {
		return nil
	}
	if kind != "application/json" {
		return &discordFailure{400, 50035, "Invalid Form Body", object{"_errors": []any{object{"code": "CONTENT_TYPE_INVALID", "message": "Expected \"Content-Type\" header to be one of {'application/json'}."}}}}
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return &discordFailure{400, 50109, "The request body contains invalid JSON.", nil}
	}
	if o, ok := v.(object); ok {
		c.args = o
	} else {
		c.args = object{"": v}
	}
	return nil
}

func (c *discordCall) readMultipart(body []byte, boundary string) *discordFailure {
	invalid := &discordFailure{400, 50035, "Invalid Form Body", nil}
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
			c.files = append(c.files, discordFile{number, p.FileName(), data})
		}
	}
}

func (w *discordWorld) getGateway(c *discordCall) (int, any, *discordFailure) {
	left := 999
	if c.spent {
		left = 3
	}
	return 200, object{
		"url": "ws://" + c.Host + "/discord/gateway", "shards": 1,
		"session_start_limit": object{"total": 1000, "remaining": left, "reset_after": 86400000, "max_concurrency": 1},
	}, nil
}

func discordBot() object {
	return object{"id": DiscordBotUser, "username": "nod", "discriminator": "0000", "global_name": nil, "avatar": nil, "bot": true, "flags": 0}
}

func (w *discordWorld) getMe(*discordCall) (int, any, *discordFailure) { return 200, discordBot(), nil }

func (w *discordWorld) getApplication(c *discordCall) (int, any, *discordFailure) {
	var endpoint any
	if c.endpoint {
		endpoint = "https://elsewhere.example.com/interactions"
	} else if w.s.opts.DiscordURL != "" {
		endpoint = w.s.opts.DiscordURL
	}
	return 200, object{"interactions_endpoint_url": endpoint, "id": DiscordApplication, "name": "nod", "flags": 0, "verify_key": fmt.Sprintf("%x", w.s.DiscordPublicKey()), "bot": discordBot()}, nil
}

func (w *discordWorld) putCommands(c *discordCall) (int, any, *discordFailure) {
	commands, _ := c.args[""].([]any)
	out := []any{}
	for _, v := range commands {
		o, _ := v.(object)
		o["id"], o["application_id"], o["version"] = w.snowflake(), c.PathValue("app"), "1"
		w.commands[str(o, "name")] = o
		out = append(out, o)
	}
	return 200, out, nil
}

func (ch *discordChannel) json() object {
	o := object{"id": ch.ID, "type": ch.Kind, "name": ch.Name, "guild_id": DiscordGuild, "position": 0, "permission_overwrites": []any{}, "nsfw": false}
	if ch.Kind == 1 {
		o = object{"id": ch.ID, "type": 1, "recipients": []any{object{"id": ch.User}}}
	}
	if ch.Parent != "" {
		o["parent_id"] = ch.Parent
		o["thread_metadata"] = object{"archived": false, "auto_archive_duration": 1440, "locked": false, "archive_timestamp": time.Now().UTC().Format(time.RFC3339)}
	}
	return o
}

func (w *discordWorld) createDM(c *discordCall) (int, any, *discordFailure) {
	for _, m := range w.s.members {
		if m.Discord == str(c.args, "recipient_id") {
			id := "9" + m.Discord[1:]
			if w.channels[id] == nil {
				w.channels[id] = &discordChannel{ID: id, Kind: 1, User: m.Discord, Name: m.Name}
			}
			return 200, w.channels[id].json(), nil
		}
	}
	return 0, nil, &discordFailure{400, 50007, "Cannot send messages to this user", nil}
}

func (w *discordWorld) getGuild(c *discordCall) (int, any, *discordFailure) {
	if c.PathValue("guild") != DiscordGuild {
		return 0, nil, &discordFailure{404, 10004, "Unknown Guild", nil}
	}
	return 200, object{"id": DiscordGuild, "name": "Sandbox", "owner_id": w.s.members[0].Discord,
		"roles": []any{object{"id": DiscordGuild, "name": "@everyone", "permissions": strconv.FormatInt(w.permissions(), 10), "position": 0, "color": 0}}}, nil
}

func (w *discordWorld) getChannel(c *discordCall) (int, any, *discordFailure) {
	ch := w.channels[c.PathValue("channel")]
	switch {
	case ch == nil:
		return 0, nil, discordUnknownChannel
	case !w.may(ch, "VIEW_CHANNEL"):
		return 0, nil, discordNoAccess
	}
	return 200, ch.json(), nil
}
