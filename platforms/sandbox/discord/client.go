package discord

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Act implements core.Service. Members click buttons, choose from selects,
// submit and close modals, send commands and ask for suggestions, write and
// reply, moderate threads, and hide embeds.
func (e *Emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil {
		return core.Reaction{}, err
	}
	i, err := e.begun(m, a)
	if err != nil || i == nil {
		return core.Reaction{OK: err == nil}, err
	}
	if err := e.deliver(ctx, i); err != nil {
		return core.Reaction{Warning: "This interaction failed (" + err.Error() + ")"}, nil
	}
	e.Lock()
	defer e.Unlock()
	return i.Reaction, nil
}

// begun returns the interaction that an action starts, or nil if the app does
// not receive the action.
func (e *Emulator) begun(m core.Account, a core.Action) (*interaction, error) {
	e.Lock()
	defer e.Unlock()
	switch a.Do {
	case "press", "choose":
		return e.component(m, a)
	case "submit":
		return e.modalSubmit(m, a)
	case "command", "suggest":
		return e.command(m, a, a.Do == "suggest")
	case "send", "reply":
		return nil, e.talk(m, a)
	case "edit":
		return nil, e.edit(m, a)
	case "delete":
		return nil, e.takeDown(a)
	case "thread":
		return nil, e.moderate(a)
	case "embeds":
		e.preferEmbeds(m, a.Text != "off")
		return nil, nil
	case "close":
		if e.modals[a.View] == nil {
			return nil, e.Errorf("no modal %q is open", a.View)
		}
		delete(e.modals, a.View)
		e.Touch()
		return nil, nil
	}
	return nil, e.CannotDo(a.Do)
}

// begin returns a new interaction of a member in a channel, with the payload for
// the app. The message may be nil.
func (e *Emulator) begin(m core.Account, ch *channel, message raw.Object, kind int, data raw.Object) *interaction {
	i := &interaction{
		ID: e.snowflake(), Token: uuid.NewString() + uuid.NewString(), User: m.ID, Channel: ch.ID, Message: raw.Str(message, "id"),
		Kind: kind, Created: e.Clock.Now(), Responded: make(chan struct{}),
	}
	e.interactions[i.Token] = i
	user := userJSON(m)
	i.payload = raw.Object{
		"id": i.ID, "application_id": Application, "type": kind, "token": i.Token, "version": 1, "channel_id": ch.ID,
		"channel": ch.json(), "data": data, "locale": "en-US", "app_permissions": strconv.FormatInt(e.permissions(), 10),
		"entitlements": []any{}, "authorizing_integration_owners": raw.Object{},
		"attachment_size_limit": 10 << 20,
	}
	if message != nil {
		i.payload["message"] = raw.Copy(message)
	}
	if ch.Kind == directChannel {
		i.payload["user"], i.payload["context"] = user, 1
		return i
	}
	i.payload["guild_id"], i.payload["context"] = Guild, 0
	i.payload["guild"] = raw.Object{"id": Guild, "locale": "en-US", "features": []any{}}
	i.payload["member"] = memberJSON(user, e.GroupsOf(m))
	maps.Copy(raw.Sub(i.payload, "member"), raw.Object{"permissions": "0", "nick": nil})
	return i
}

func (e *Emulator) component(m core.Account, a core.Action) (*interaction, error) {
	ch := e.channels[a.Channel]
	if ch == nil {
		return nil, e.Errorf("no channel %q", a.Channel)
	}
	msg := ch.Seen(a.Message, m.ID)
	if msg == nil {
		return nil, e.Errorf("no message %q in %s", a.Message, a.Channel)
	}
	c := findComponent(msg, a.Control)
	if c == nil || c["disabled"] == true || a.Do == "press" != (kindOf(c) == button) {
		return nil, e.Errorf("no control %q on message %s", a.Control, a.Message)
	}
	data := raw.Object{"custom_id": a.Control, "component_type": kindOf(c), "id": c["id"]}
	if kindOf(c) != button {
		values, err := chosen(e.withOptions(c), a.Values[a.Control])
		if err != nil {
			return nil, e.Errorf("%w", err)
		}
		data["values"] = values
		if kindOf(c) == userSelect {
			data["resolved"] = e.resolved(values)
		}
	}
	return e.begin(m, ch, msg, componentUsed, data), nil
}

func findComponent(m raw.Object, customID string) raw.Object {
	for _, o := range components(raw.List(m, "components")) {
		if raw.Str(o, "custom_id") == customID {
			return o
		}
	}
	return nil
}

func (e *Emulator) modalSubmit(m core.Account, a core.Action) (*interaction, error) {
	shown := e.modals[a.View]
	if shown == nil || shown.User != m.ID {
		return nil, e.Errorf("no modal %q is open for %s", a.View, m.Key)
	}
	filled, err := fill(raw.Objects(shown.Data, "components"), a.Values)
	if err != nil {
		return nil, e.Errorf("%w", err)
	}
	delete(e.modals, a.View)
	e.Touch()
	data := raw.Object{"custom_id": raw.Str(shown.Data, "custom_id"), "components": filled}
	return e.begin(m, e.channels[shown.Channel], shown.Message, modalSubmitted, data), nil
}

// deliver sends an interaction to the application and waits for its first
// response.
func (e *Emulator) deliver(ctx context.Context, i *interaction) error {
	times, err := e.Event(ctx, "event_drop", "mute")
	if err != nil {
		return err
	}
	send := e.overGateway
	if e.opts.URL != "" {
		send = e.overHTTP
	}
	e.Recorder.Note(core.ToBot, Name, "INTERACTION_CREATE", i.payload)
	for range times {
		if err := send(ctx, i); err != nil {
			return err
		}
	}
	within, cancel := e.Clock.WithTimeout(ctx, responseTTL)
	defer cancel()
	var late <-chan time.Time
	for {
		changed := e.Changed()
		if late == nil && e.lost(i) {
			late = time.After(responseTTL)
		}
		select {
		case <-i.Responded:
			return nil
		case <-within.Done():
			return cmp.Or(ctx.Err(), core.ErrNoAnswer)
		case <-late:
			return core.ErrNoAnswer
		case <-changed:
		}
	}
}

// lost reports whether every session that got an interaction has ended. The bot
// may still respond if it received the interaction before that. If it did not,
// it never will, and no one may advance the clock.
func (e *Emulator) lost(i *interaction) bool {
	e.Lock()
	defer e.Unlock()
	return len(i.to) > 0 && !slices.ContainsFunc(i.to, func(s *session) bool { return e.sessions[s.id] == s })
}

// overGateway sends an interaction to every connected session of the shard. If
// no session is connected, each session gets the interaction once the bot
// resumes it.
func (e *Emulator) overGateway(ctx context.Context, i *interaction) error {
	e.Lock()
	defer e.Unlock()
	i.to = e.connected()
	if len(i.to) > 0 {
		for _, s := range i.to {
			s.send(ctx, "INTERACTION_CREATE", i.payload)
		}
		return nil
	}
	for _, s := range e.sessions {
		s.send(ctx, "INTERACTION_CREATE", i.payload)
	}
	return core.ErrNoReceiver
}

// Sign signs a request body like Discord.
func Sign(h http.Header, key ed25519.PrivateKey, at time.Time, body []byte) {
	ts := strconv.FormatInt(at.Unix(), 10)
	h.Set("X-Signature-Timestamp", ts)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(key, append([]byte(ts), body...))))
}

func (e *Emulator) overHTTP(ctx context.Context, i *interaction) error {
	body, err := json.Marshal(i.payload)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	Sign(header, e.key, time.Now(), body)
	resp, encoded, err := e.Post(ctx, e.opts.URL, header, body)
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusAccepted, http.StatusNoContent:
		return nil // the app answers with a call of the callback route
	case http.StatusOK:
		var answer raw.Object
		if json.Unmarshal(encoded, &answer) != nil {
			return errors.New("the answer is not JSON")
		}
		accepted := e.Recorder.Watch(Name, "POST /interactions/{id}/{token}/callback", answer)
		e.Lock()
		defer e.Unlock()
		if bad := e.respond(i, sent{args: answer}); bad != nil {
			return errors.New(bad.message)
		}
		accepted(nil)
		return nil
	}
	return errors.New("HTTP " + resp.Status)
}
