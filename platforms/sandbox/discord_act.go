package sandbox

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// discordInteraction is one thing a member did, waiting for its response.
type discordInteraction struct {
	ID, Token string
	User      string
	Channel   string
	Message   string // the message whose component was used
	Kind      int    // 2 command, 3 component, 5 modal submit
	Created   time.Time
	Responded chan struct{} // closed by the first response
	done      bool
	Reaction  Reaction
	Original  string // message that the response created or updated
}

func (w *discordWorld) act(ctx context.Context, m Member, a Action) (Reaction, error) {
	w.s.mu.Lock()
	var payload object
	var i *discordInteraction
	var err error
	switch a.Do {
	case "press", "choose":
		payload, i, err = w.component(m, a)
	case "submit":
		payload, i, err = w.modalSubmit(m, a)
	case "command":
		payload, i, err = w.command(m, a)
	case "embeds":
		w.preferEmbeds(m, a.Text != "off")
	case "close":
		if w.modals[a.View] == nil {
			err = fmt.Errorf("discord: no modal %q is open", a.View)
		}
		delete(w.modals, a.View)
		w.s.touch()
	default:
		err = fmt.Errorf("discord: can not %q", a.Do)
	}
	w.s.mu.Unlock()
	if err != nil || i == nil {
		return Reaction{OK: err == nil}, err
	}
	if err := w.deliver(ctx, payload, i); err != nil {
		return Reaction{Warning: "This interaction failed (" + err.Error() + ")"}, nil
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return i.Reaction, nil
}

func (w *discordWorld) begin(m Member, channel, message string, kind int) *discordInteraction {
	i := &discordInteraction{
		ID: w.snowflake(), Token: uuid.NewString() + uuid.NewString(), User: m.Discord, Channel: channel, Message: message, Kind: kind,
		Created: time.Now(), Responded: make(chan struct{}),
	}
	w.interactions[i.Token] = i
	return i
}

func (w *discordWorld) payload(m Member, i *discordInteraction, ch *discordChannel, data, message object) object {
	user := object{"id": m.Discord, "username": m.Key, "global_name": m.Name, "discriminator": "0", "avatar": nil}
	p := object{
		"id": i.ID, "application_id": DiscordApplication, "type": i.Kind, "token": i.Token, "version": 1, "channel_id": ch.ID, "channel": ch.json(),
		"data": data, "locale": "en-US", "app_permissions": strconv.FormatInt(w.permissions(), 10), "entitlements": []any{}, "authorizing_integration_owners": object{},
	}
	if message != nil {
		p["message"] = cloneObject(message)
	}
	if ch.Kind == 1 {
		p["user"], p["context"] = user, 1
		return p
	}
	p["guild_id"], p["context"] = DiscordGuild, 0
	p["guild"] = object{"id": DiscordGuild, "locale": "en-US", "features": []any{}}
	p["member"] = object{"user": user, "roles": []any{}, "permissions": "0", "nick": nil, "joined_at": "2026-01-01T00:00:00Z", "deaf": false, "mute": false}
	return p
}

// shown finds a message as the member sees it.
func (ch *discordChannel) shown(id, user string) object {
	if n := ch.find(id); n >= 0 {
		return ch.Messages[n]
	}
	if n := ch.findPrivate(id); n >= 0 && ch.Private[n].User == user {
		return ch.Private[n].Message
	}
	return nil
}

func (w *discordWorld) component(m Member, a Action) (object, *discordInteraction, error) {
	ch := w.channels[a.Channel]
	if ch == nil {
		return nil, nil, fmt.Errorf("discord: no channel %q", a.Channel)
	}
	msg := ch.shown(a.Message, m.Discord)
	if msg == nil {
		return nil, nil, fmt.Errorf("discord: no message %q in %s", a.Message, a.Channel)
	}
	var c object
	for _, e := range discordComponents(list(msg, "components")) {
		if str(e, "custom_id") == a.Control {
			c = e
		}
	}
	if c == nil || c["disabled"] == true {
		return nil, nil, fmt.Errorf("discord: no control %q on message %s", a.Control, a.Message)
	}
	data := object{"custom_id": a.Control, "component_type": kindOf(c), "id": c["id"]}
	if kindOf(c) == 3 {
		values, err := chosen(c, a.Values[a.Control])
		if err != nil {
			return nil, nil, err
		}
		data["values"] = values
	}
	i := w.begin(m, ch.ID, a.Message, 3)
	return w.payload(m, i, ch, data, msg), i, nil
}

func chosen(c object, given []string) ([]any, error) {
	least, most := 1, 1
	if n, ok := number(c, "min_values"); ok {
		least = int(n)
	}
	if n, ok := number(c, "max_values"); ok {
		most = int(n)
	} else if kindOf(c) == 22 {
		most = len(list(c, "options"))
	}
	if c["required"] == false {
		least = 0
	}
	if len(given) < least || len(given) > most {
		return nil, fmt.Errorf("discord: choose %d to %d", least, most)
	}
	out := []any{}
	for _, v := range given {
		known := slices.ContainsFunc(list(c, "options"), func(o any) bool { oo, _ := o.(object); return str(oo, "value") == v })
		if !known {
			return nil, fmt.Errorf("discord: no option %q", v)
		}
		out = append(out, v)
	}
	return out, nil
}

func (w *discordWorld) modalSubmit(m Member, a Action) (object, *discordInteraction, error) {
	modal := w.modals[a.View]
	if modal == nil || modal.User != m.Discord {
		return nil, nil, fmt.Errorf("discord: no modal %q is open for %s", a.View, m.Key)
	}
	used := map[string]bool{}
	components := []any{}
	for _, v := range list(modal.Data, "components") {
		o, _ := v.(object)
		switch kindOf(o) {
		case 18:
			field, err := filled(sub(o, "component"), a.Values, used)
			if err != nil {
				return nil, nil, err
			}
			components = append(components, object{"type": 18, "id": o["id"], "component": field})
		case 1:
			inner, _ := list(o, "components")[0].(object)
			field, err := filled(inner, a.Values, used)
			if err != nil {
				return nil, nil, err
			}
			components = append(components, object{"type": 1, "id": o["id"], "components": []any{field}})
		case 10:
			components = append(components, object{"type": 10, "id": o["id"]})
		}
	}
	for id := range a.Values {
		if !used[id] {
			return nil, nil, fmt.Errorf("discord: there is no input %q", id)
		}
	}
	delete(w.modals, a.View)
	w.s.touch()
	ch := w.channels[modal.Channel]
	i := w.begin(m, ch.ID, str(modal.Message, "id"), 5)
	data := object{"custom_id": str(modal.Data, "custom_id"), "components": components}
	return w.payload(m, i, ch, data, modal.Message), i, nil
}

func filled(c object, values map[string][]string, used map[string]bool) (object, error) {
	id := str(c, "custom_id")
	used[id] = true
	given, set := values[id]
	out := object{"type": kindOf(c), "custom_id": id, "id": c["id"]}
	switch kindOf(c) {
	case 4:
		text := str(c, "value")
		if set && len(given) > 0 {
			text = given[0]
		}
		if text == "" && c["required"] != false {
			return nil, fmt.Errorf("discord: %s is required", id)
		}
		if most, ok := number(c, "max_length"); ok && runes(text) > int(most) {
			return nil, fmt.Errorf("discord: %s is longer than %v", id, most)
		}
		if least, ok := number(c, "min_length"); ok && text != "" && runes(text) < int(least) {
			return nil, fmt.Errorf("discord: %s is shorter than %v", id, least)
		}
		out["value"] = text
		return out, nil
	case 21:
		out["value"] = nil
	}
	if !set {
		for _, o := range list(c, "options") {
			if oo, _ := o.(object); oo["default"] == true {
				given = append(given, str(oo, "value"))
			}
		}
	}
	picked, err := chosen(c, given)
	if err != nil {
		return nil, err
	}
	if kindOf(c) == 21 {
		if len(picked) > 0 {
			out["value"] = picked[0]
		}
	} else {
		out["values"] = picked
	}
	return out, nil
}

// deliver sends an interaction to the application and waits for its first
// response.
func (w *discordWorld) deliver(ctx context.Context, payload object, i *discordInteraction) error {
	if w.s.fault("discord", "", "event_drop", "mute") != nil {
		return errNoAnswer
	}
	if f := w.s.fault("discord", "", "event_delay"); f != nil && !sleep(ctx, f.Delay) {
		return ctx.Err()
	}
	times := 1
	if w.s.fault("discord", "", "event_duplicate") != nil {
		times = 2
	}
	if w.s.opts.DiscordURL != "" {
		for range times {
			if err := w.overHTTP(ctx, payload, i); err != nil {
				return err
			}
		}
	} else {
		w.s.mu.Lock()
		sessions := w.connected()
		for range times {
			for _, s := range sessions { // every session of a shard gets it
				s.send(ctx, "INTERACTION_CREATE", payload)
			}
		}
		w.s.mu.Unlock()
		if len(sessions) == 0 {
			return errNoReceiver
		}
	}
	select {
	case <-i.Responded:
		return nil
	case <-time.After(w.s.opts.TriggerTTL):
		return errNoAnswer
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SignDiscord signs a request body as Discord does.
func SignDiscord(h http.Header, key ed25519.PrivateKey, at time.Time, body []byte) {
	ts := strconv.FormatInt(at.Unix(), 10)
	h.Set("X-Signature-Timestamp", ts)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(key, append([]byte(ts), body...))))
}

// DiscordKey is the private key with which requests are signed; tests forge
// with it.
func (s *Sandbox) DiscordKey() ed25519.PrivateKey { return s.discord.key }

func (w *discordWorld) overHTTP(ctx context.Context, payload object, i *discordInteraction) error {
	body, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.s.opts.DiscordURL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	SignDiscord(req.Header, w.key, time.Now(), body)
	resp, err := w.s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusAccepted, http.StatusNoContent:
		return nil // it answers by the callback route
	case http.StatusOK:
		var answer object
		if json.Unmarshal(raw, &answer) != nil {
			return errors.New("the answer is not JSON")
		}
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		if bad := w.respond(i, discordSent{args: answer}); bad != nil {
			return errors.New(bad.message)
		}
		return nil
	}
	return errors.New("HTTP " + resp.Status)
}
