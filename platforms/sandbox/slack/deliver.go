package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// deliver sends a payload to the app and returns its answer within 3 seconds.
func (e *Emulator) deliver(ctx context.Context, payload raw.Object) (json.RawMessage, error) {
	times, err := e.Event(ctx, "event_drop", "mute")
	if err != nil {
		return nil, err
	}
	send := e.overSocket
	if e.url != "" {
		send = e.overHTTP
	}
	ctx, cancel := e.Clock.WithTimeout(ctx, answerWithin)
	defer cancel()
	kind := raw.Str(payload, "type") + raw.Str(payload, "command")
	e.Recorder.Note(core.ToBot, Name, kind, payload)
	answer, err := send(ctx, payload)
	if err == nil && len(answer) > 0 {
		e.Recorder.Note(core.ToService, Name, kind, answer)
	}
	for range times - 1 {
		_, _ = send(ctx, payload) // only its effect matters
	}
	return answer, err
}

// Sign signs a request body like Slack.
func Sign(h http.Header, secret string, at time.Time, body []byte) {
	ts := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + ts + ":"))
	mac.Write(body)
	h.Set("X-Slack-Request-Timestamp", ts)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

func (e *Emulator) overHTTP(ctx context.Context, payload raw.Object) (json.RawMessage, error) {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	form := url.Values{"payload": {string(encoded)}}
	if payload["command"] != nil {
		form = url.Values{}
		for name, v := range payload {
			form.Set(name, raw.Text(v))
		}
	}
	kind, body := "application/x-www-form-urlencoded", []byte(form.Encode())
	if payload["type"] == "event_callback" {
		kind, body = "application/json", encoded
	}
	header := http.Header{"Content-Type": {kind}}
	Sign(header, SigningSecret, time.Now(), body)
	resp, answer, err := e.Post(ctx, e.url, header, body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("HTTP " + resp.Status)
	}
	return answer, err
}
