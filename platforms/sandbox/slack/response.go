package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// responseURL is an address where an app may answer an interaction.
type responseURL struct {
	user, channel, ts string
	uses              int
	expires           time.Time
}

// newURL returns a new response URL. The emulator does not know its own
// address, so the URL has the host of the newest API call.
func (w *workspace) newURL(user, channel, ts string) string {
	key := uuid.NewString()
	w.urls[key] = responseURL{user: user, channel: channel, ts: ts, expires: time.Now().Add(responseTTL)}
	return "http://" + w.host + "/slack/response/" + key
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
	if !ok || u.uses >= responseUses || time.Now().After(u.expires) {
		http.Error(rw, "used_url", http.StatusNotFound)
		return
	}
	accepted := w.Recorder.Watch(Name, "response_url", a)
	u.uses++
	w.urls[key] = u
	c := w.channels[u.channel]
	n := c.Find(u.ts)
	m := raw.Object{"ts": w.stamp(), "user": BotUser, "type": "message"}
	replace := n >= 0 && (a["replace_original"] == true || raw.Str(a, "replace_original") == "true")
	if replace {
		m = raw.Copy(c.Messages[n])
	}
	if thread := raw.Str(a, "thread_ts"); thread != "" && !replace {
		m["thread_ts"] = thread
	}
	if bad := content(a, m); bad != nil {
		raw.Write(rw, http.StatusBadRequest, bad)
		return
	}
	accepted(nil)
	switch {
	case replace:
		c.Messages[n] = m
	case raw.Str(a, "response_type") == "in_channel":
		c.Add(m)
	default:
		c.AddPrivate(u.user, m)
	}
	w.Touch()
	_, _ = io.WriteString(rw, "ok") // the app has gone
}
