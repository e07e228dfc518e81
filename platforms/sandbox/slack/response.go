package slack

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// responseURL is an address at which an app may respond to an interaction.
type responseURL struct {
	user, channel, ts string
	uses              int
	expires           time.Time
}

// newURL returns a new response URL.
func (w *workspace) newURL(user, channel, ts string) string {
	key := uuid.NewString()
	w.urls[key] = responseURL{user: user, channel: channel, ts: ts, expires: w.Clock.Now().Add(responseTTL)}
	return w.base() + "/slack/response/" + key
}

// responseURL serves the response_url of an interaction.
func (w *workspace) responseURL(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var a raw.Object
	if err != nil || json.Unmarshal(body, &a) != nil {
		http.Error(rw, "invalid_payload", http.StatusBadRequest)
		return
	}
	w.Lock()
	defer w.Unlock()
	key := r.PathValue("key")
	u, ok := w.urls[key]
	switch {
	case !ok || u.uses >= responseUses:
		http.Error(rw, "used_url", http.StatusNotFound)
		return
	case w.Clock.Now().After(u.expires):
		http.Error(rw, "expired_url", http.StatusNotFound)
		return
	}
	accepted := w.Recorder.Watch(Name, "response_url", a)
	u.uses++
	w.urls[key] = u
	if bad := w.respond(u, a); bad != nil {
		raw.Write(rw, http.StatusBadRequest, bad)
		return
	}
	accepted(nil)
	w.Touch()
	_, _ = io.WriteString(rw, "ok") // the app may have disconnected
}

// respond applies a response of the app. It returns the error of the API, or
// nil.
func (w *workspace) respond(u responseURL, a raw.Object) raw.Object {
	c := w.Chats[u.channel]
	old := c.Seen(u.ts, u.user)
	if old != nil && yes(a, "delete_original") {
		w.remove(c, u.ts)
		return nil
	}
	if old != nil && yes(a, "replace_original") {
		m := raw.Copy(old)
		if bad := content(a, m); bad != nil {
			return bad
		}
		clear(old)
		maps.Copy(old, m)
		return nil
	}
	m := w.message()
	if thread := raw.Str(a, "thread_ts"); thread != "" {
		m["thread_ts"] = thread
	}
	if bad := content(a, m); bad != nil {
		return bad
	}
	if raw.Str(a, "response_type") == "in_channel" {
		c.Add(m)
	} else {
		c.AddPrivate(u.user, m)
	}
	return nil
}
