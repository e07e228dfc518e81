package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// deliver sends an interaction to the application and waits for its first
// response.
func (cl client) deliver(ctx context.Context, payload raw.Object, i *interaction) error {
	times, err := cl.Event(ctx, "event_drop", "mute")
	if err != nil {
		return err
	}
	send := cl.overGateway
	if cl.opts.URL != "" {
		send = cl.overHTTP
	}
	cl.Recorder.Note(core.ToBot, Name, "INTERACTION_CREATE", payload)
	for range times {
		if err := send(ctx, payload, i); err != nil {
			return err
		}
	}
	within, cancel := cl.Clock.WithTimeout(ctx, responseTTL)
	defer cancel()
	select {
	case <-i.Responded:
		return nil
	case <-within.Done():
		if err := ctx.Err(); err != nil {
			return err
		}
		return core.ErrNoAnswer
	}
}

// overGateway sends an interaction to every session of the shard. A session
// without a connection gets it when the bot resumes.
func (cl client) overGateway(ctx context.Context, payload raw.Object, _ *interaction) error {
	cl.Lock()
	defer cl.Unlock()
	sessions := cl.gateway.connected()
	if len(sessions) == 0 {
		for _, s := range cl.gateway.sessions {
			s.send(ctx, "INTERACTION_CREATE", payload)
		}
		return core.ErrNoReceiver
	}
	for _, s := range sessions {
		s.send(ctx, "INTERACTION_CREATE", payload)
	}
	return nil
}

// Sign signs a request body like Discord.
func Sign(h http.Header, key ed25519.PrivateKey, at time.Time, body []byte) {
	ts := strconv.FormatInt(at.Unix(), 10)
	h.Set("X-Signature-Timestamp", ts)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(key, append([]byte(ts), body...))))
}

func (cl client) overHTTP(ctx context.Context, payload raw.Object, i *interaction) error {
	body, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	Sign(header, cl.key, time.Now(), body)
	resp, encoded, err := cl.Post(ctx, cl.opts.URL, header, body)
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
		accepted := cl.Recorder.Watch(Name, "POST /interactions/{id}/{token}/callback", answer)
		cl.Lock()
		defer cl.Unlock()
		if bad := cl.interactions.respond(i, sent{args: answer}); bad != nil {
			return errors.New(bad.message)
		}
		accepted(nil)
		return nil
	}
	return errors.New("HTTP " + resp.Status)
}
