package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// Display checks each decision that a rig stores. When the person clicked, the
// message must have shown everything that the decision covers, and the person
// must have seen the coverage of a longer approval. Display is a hook between
// the daemons and Redis, which every decision passes.
type Display struct {
	r      *Rig
	client redis.UniversalClient // a separate client, without the hook
	http   bool                  // forms can be in responses to signed requests, which are not recorded

	mu      sync.Mutex
	history map[string]*strings.Builder // all text that a platform was told to show so far
	// calls counts the calls to each service. complaints holds the reasons with
	// which each service refused the content of a call.
	calls      map[string]int
	complaints map[string][]string
}

func newDisplay(r *Rig, httpMode bool) *Display {
	d := &Display{r: r, http: httpMode, history: map[string]*strings.Builder{}, calls: map[string]int{}, complaints: map[string][]string{}}
	for _, name := range kinds.Names() {
		d.history[name] = &strings.Builder{}
	}
	return d
}

// Record stores all text that a platform is told to show, and its complaints.
func (d *Display) Record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		service, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
		if _, ok := d.history[service]; ok && req.Body != nil && req.Method != http.MethodGet {
			raw, err := io.ReadAll(req.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			req.Body = io.NopCloser(bytes.NewReader(raw))
			body := decodeBody(req.Header.Get("Content-Type"), raw)
			text := Normal(service, ShownIn(body))
			if service == "discord" {
				text = Normal(service, discordShown(body, nil))
			}
			d.mu.Lock()
			d.history[service].WriteString(text)
			d.mu.Unlock()
			answer := &watched{ResponseWriter: w, status: http.StatusOK}
			defer d.count(service, req.URL.Path, answer)
			w = answer
		}
		next.ServeHTTP(w, req)
	})
}

// count counts a call that has a complete response.
func (d *Display) count(service, path string, answer *watched) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[service]++
	if c := answer.complaint(service); c != "" {
		d.complaints[service] = append(d.complaints[service], path+": "+c)
	}
}

// decodeBody decodes a request to a platform, in any of the encodings that
// platforms use.
func decodeBody(kind string, raw []byte) any {
	var v any
	switch {
	case strings.HasPrefix(kind, "application/json"):
		_ = json.Unmarshal(raw, &v) // a body that is not JSON shows nothing
	case strings.HasPrefix(kind, "multipart/"):
		if at, end := bytes.IndexByte(raw, '{'), bytes.LastIndexByte(raw, '}'); at >= 0 && end > at { // Discord's payload_json comes first
			_ = json.NewDecoder(bytes.NewReader(raw[at:])).Decode(&v)
		}
	default:
		form, _ := url.ParseQuery(string(raw))
		all := map[string]any{}
		for k, values := range form {
			all[k] = values[0]
			var parsed any
			if json.Unmarshal([]byte(values[0]), &parsed) == nil {
				all[k] = parsed
			}
		}
		v = all
	}
	return v
}

// notShown lists fields that people do not see.
var notShown = map[string]bool{
	"type": true, "block_id": true, "action_id": true, "custom_id": true, "callback_data": true, "value": true, "url": true, "style": true,
	"token": true, "channel": true, "ts": true, "chat_id": true, "message_id": true, "id": true, "private_metadata": true, "callback_id": true,
	"copy_text": true, "parse": true, "user": true, "file_id": true, "entities": true, "flags": true, "nonce": true, "app_id": true,
	"bot_id": true, "subtype": true, "thread_ts": true, "file_unique_id": true,
	"reply_to_message": true, "metadata": true, "push": true, // notifications, which people see only once
}

// ShownIn returns every text in decoded JSON of Slack or Telegram that people
// see.
func ShownIn(v any) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case string:
			b.WriteString(x + "\n")
		case []any:
			for _, e := range x {
				walk(e)
			}
		case map[string]any:
			_, blocks := x["blocks"]
			for _, k := range sortedKeys(x) {
				switch {
				case notShown[k], k == "text" && blocks: // text of a notification
				default:
					walk(x[k])
				}
			}
		}
	}
	walk(v)
	return b.String()
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Normal returns a text without the parts that platforms and cards may change:
// spaces, joiners, escapes, and Discord's markup.
func Normal(service, s string) string {
	s = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || service == "discord" && strings.ContainsRune("\\*_~`|>#-", r) {
			return -1
		}
		return r
	}, s)
}

// DialHook implements redis.Hook.
func (d *Display) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (d *Display) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		checks := d.decisions([]redis.Cmder{cmd})
		err := next(ctx, cmd)
		d.report(checks)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (d *Display) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		checks := d.decisions(cmds)
		err := next(ctx, cmds)
		d.report(checks)
		return err
	}
}

// check is a decision on its way to Redis, with the content that its message
// did not show.
type check struct {
	cmd     redis.Cmder
	missing string
}

func (d *Display) report(checks []check) {
	for _, c := range checks {
		reply, ok := c.cmd.(*redis.Cmd)
		if !ok || c.missing == "" || d.r.T.Context().Err() != nil {
			continue
		}
		if s, _ := reply.StringSlice(); len(s) > 1 && s[1] == "ok" {
			d.r.T.Errorf("a decision was stored although its message did not show %s", c.missing)
		}
	}
}

// Decided is the part of a stored response or vote that names its message.
type Decided struct {
	Actor   *bridge.Actor            `json:"actor"`
	State   bridge.State             `json:"state"`
	Scope   bridge.Scope             `json:"scope"`
	Answers map[string]bridge.Answer `json:"answers"`
	Message *bridge.MessageRef       `json:"message"`
}

// decisions is the part of a stored life document that contains the decisions.
type decisions struct {
	State    bridge.State      `json:"state"`
	Response *Decided          `json:"response"`
	Votes    []json.RawMessage `json:"votes"`
}

// clicked reports whether it contains a decision that a person made on a
// message.
func (l decisions) clicked() bool {
	return l.State == "" && len(l.Votes) > 0 || l.Response != nil && l.Response.Actor != nil && l.Response.Message != nil
}

// decisions finds the decisions that people made on a message among commands.
func (d *Display) decisions(cmds []redis.Cmder) []check {
	var out []check
	for _, cmd := range cmds {
		id, next, ok := lifeIn(cmd)
		if !ok {
			continue
		}
		if s := d.decision(id, next); s != nil && s.Actor != nil && s.Message != nil && (s.State == bridge.StateApproved || s.State == bridge.StateAnswered) {
			if missing := d.Missing(id, *s); missing != "" {
				out = append(out, check{cmd, missing})
			}
		}
	}
	return out
}

// lifeIn returns the life document that a command stores.
func lifeIn(cmd redis.Cmder) (id bridge.ID, l decisions, ok bool) {
	args := cmd.Args()
	if name := cmd.Name(); name != "evalsha" && name != "eval" || len(args) < 4 {
		return "", l, false
	}
	for _, a := range args[3:] {
		text, _ := a.(string) // a key
		if value, is := a.(*string); is {
			text = *value
		}
		if rest, key := strings.CutPrefix(text, DocumentKey("life", "")); key {
			id = bridge.ID(rest)
		} else if strings.Contains(text, `"actor"`) && len(text) > headerLen && json.Unmarshal([]byte(valueOf(text)), &l) == nil {
			ok = true
		}
	}
	return id, l, ok && id != ""
}

// decision returns the response or the vote that a new document adds to the
// stored one, or nil if it adds none.
func (d *Display) decision(id bridge.ID, next decisions) *Decided {
	var now decisions
	d.read("life", id, &now)
	if now.State != "" {
		return nil
	}
	if next.Response != nil {
		return next.Response
	}
	for _, v := range next.Votes {
		var s Decided
		if !slices.ContainsFunc(now.Votes, func(old json.RawMessage) bool { return bytes.Equal(old, v) }) && json.Unmarshal(v, &s) == nil {
			return &s
		}
	}
	return nil
}

// read reads a document of an interaction, and reports whether it exists.
func (d *Display) read(kind string, id bridge.ID, into any) bool {
	stored, err := d.client.Get(d.r.Ctx, DocumentKey(kind, string(id))).Result()
	return err == nil && len(stored) > headerLen && json.Unmarshal([]byte(valueOf(stored)), into) == nil
}

// Missing describes the content of an interaction that the clicked message does
// not show. It returns "" if the message shows everything, or if the
// interaction is closed.
func (d *Display) Missing(id bridge.ID, s Decided) string {
	var now decisions
	var i bridge.Interaction
	if !d.read("life", id, &now) || now.State != "" || !d.read("body", id, &i) {
		return ""
	}
	service := s.Actor.Platform
	at := sandbox.Place{Service: service, Channel: s.Message.Channel, Message: s.Message.Message}
	text := d.r.Displayed(at)
	if service == "slack" || i.Private { // a dialog shows the text that is too long for a card
		text += d.r.Stated(service, s.Actor.User, s.Message.Channel)
	}
	if i.Private { // on Telegram, the person reads the text in a private chat
		text += d.r.Stated(service, s.Actor.User, s.Actor.User)
	}
	if len(d.r.Sandbox.Chats(service)) == 0 { // the sandbox does not emulate this platform
		d.mu.Lock()
		text += d.history[service].String()
		d.mu.Unlock()
	}
	if i.Kind == bridge.KindAsk && !i.LonePlan() { // the card may have shown its parts one after another
		if d.http {
			return ""
		}
		d.mu.Lock()
		text += d.history[service].String()
		d.mu.Unlock()
	}
	for _, want := range coveredBy(i, s) {
		if !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(text, Normal(service, w)) }) {
			return fmt.Sprintf("%s on %s: %q", i.ID, service, render.Cut(want[0], 200, render.Runes))
		}
	}
	return d.unstated(i, s)
}

// unstated describes the part of a longer approval's coverage that the person
// did not see before approving. It returns "" if the person saw all of it.
func (d *Display) unstated(i bridge.Interaction, s Decided) string {
	if s.Scope != bridge.ScopeSession && s.Scope != bridge.ScopeAlways {
		return ""
	}
	service := s.Actor.Platform
	text := d.r.Stated(service, s.Actor.User, s.Message.Channel)
	for _, want := range i.CoverageShown(s.Scope) {
		if !strings.Contains(text, Normal(service, render.Clean(want))) {
			return fmt.Sprintf("%s on %s to %s: %q", i.ID, service, s.Actor.User, want)
		}
	}
	return ""
}

// onePage is the number of options that every platform shows at once.
const onePage = 10

// coveredBy returns the texts that a decision covers, each in the forms in
// which a card may show it.
func coveredBy(i bridge.Interaction, s Decided) [][]string {
	var out [][]string
	add := func(forms ...string) { out = append(out, forms) }
	for _, text := range append([]string{i.Prompt}, plans(i)...) {
		for line := range strings.SplitSeq(render.PlainText(render.Markdown(text)), "\n") {
			line = strings.TrimLeft(line, " >-•0123456789.")
			if i.Approval != nil && introduces(line, i.Approval.Tool) {
				add(line, i.Approval.Tool)
				continue
			}
			add(line)
		}
	}
	if a := i.Approval; a != nil {
		add(render.Cut(render.Line(a.Tool), 60, render.Runes))
		var input any
		dec := json.NewDecoder(bytes.NewReader(a.Input))
		dec.UseNumber()
		if len(a.Input) > 0 && dec.Decode(&input) == nil {
			out = append(out, leaves(input)...)
		}
	}
	for _, q := range i.Questions {
		add(render.Clean(q.Text))
		chosen := s.Answers[q.ID].Values()
		for _, o := range q.Options {
			// pages that no one opened were not visible
			if len(q.Options) <= onePage || slices.Contains(chosen, o.Value) {
				add(render.Line(o.Text()))
			}
		}
	}
	return out
}

// introduces reports whether a line of a prompt only asks whether a tool may be
// used. The headline of the card already describes the action.
func introduces(line, tool string) bool {
	return line == "Run this command?" || line == "Codex wants to run a command" || line == "Allow "+tool+"?" || strings.Contains(line, " wants to use "+tool)
}

// words maps the names of fields to the words that a card shows instead.
var words = map[string]string{
	"program": "Program", "host": " on ", "user": "runs as ", "directory": "·", "content": "Write ", "url": "Fetch ",
	"old_string": "Edit ", "new_string": "Edit ", "method": "Send ", "stdin": "Stdin",
}

func plans(i bridge.Interaction) []string {
	var out []string
	for _, q := range i.Questions {
		if q.Plan != "" {
			out = append(out, q.Plan)
		}
	}
	return out
}

// leaves returns the keys and values of an input, in the forms in which a card
// shows them.
func leaves(v any) [][]string {
	switch x := v.(type) {
	case map[string]any:
		var out [][]string
		for k, e := range x {
			out = append(out, leaves(e)...)
			if !slices.Contains([]string{"command", "cmd", "argv", "file_path", "path", "filename", "diff", "patch"}, k) {
				forms := []string{render.Clean(k)}
				if w := words[k]; w != "" {
					forms = append(forms, w)
				}
				out = append(out, forms)
			}
		}
		return out
	case []any:
		var out [][]string
		for _, e := range x {
			out = append(out, leaves(e)...)
		}
		return out
	case string:
		quoted, _ := json.Marshal(x)
		var plain bytes.Buffer
		enc := json.NewEncoder(&plain)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(x)                                              // a string always marshals
		exact := render.Clean(strings.ReplaceAll(x, "\r", "⟨U+000D⟩")) // for a command with CR
		return [][]string{{render.Clean(x), exact, render.Clean(strings.Trim(strings.TrimSpace(plain.String()), `"`)), render.Clean(strings.Trim(string(quoted), `"`)), render.ShellQuote(render.Clean(x))}}
	case json.Number:
		return [][]string{{x.String()}}
	}
	return nil
}
