package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/slack-go/slack"
)

const maxBody = 1 << 20 // Slack's payloads are far smaller

// endpoint receives events in HTTP mode.
type endpoint struct {
	*workspace
	in     inbound
	secret string
}

// ServeHTTP implements http.Handler. It refuses requests without a Slack
// signature from the last five minutes.
func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
		return
	}
	if !signed(r.Header, e.secret, body) {
		e.log.Warn("request with a bad signature", "platform", e.name)
		http.Error(w, "bad signature", http.StatusUnauthorized)
		return
	}
	raw, err := interaction(r.Header.Get("Content-Type"), body)
	if err != nil {
		http.Error(w, "bad form", http.StatusBadRequest)
		return
	}
	if len(raw) == 0 {
		w.WriteHeader(http.StatusOK) // ssl_check
		return
	}
	reaction := e.in.handle(r.Context(), e.in.read(raw)).begin(r.Context())
	if reaction.then != nil { // the next request must not wait until then has returned
		w.Header().Set("Connection", "close")
	}
	if err := respond(w, reaction.reply); err != nil {
		e.log.Warn("click recorded but not acknowledged", "platform", e.name, "error", err)
	}
	reaction.finish(r.Context())
}

// signed reports whether a request has a valid v0 signature. The verifier of
// the SDK compares in constant time and refuses requests older than five
// minutes.
func signed(h http.Header, secret string, body []byte) bool {
	v, err := slack.NewSecretsVerifier(h, secret)
	if err != nil {
		return false
	}
	if _, err := v.Write(body); err != nil {
		return false
	}
	return v.Ensure() == nil
}

// interaction returns the payload of a request in the format of Socket Mode.
// Slack sends events as JSON, and everything else as a form.
func interaction(kind string, body []byte) ([]byte, error) {
	if strings.HasPrefix(kind, "application/json") {
		return body, nil
	}
	form, err := url.ParseQuery(string(body))
	if err == nil && form.Get("command") != "" {
		return command(form), nil
	}
	return []byte(form.Get("payload")), err
}

// command returns a slash command in the format of Socket Mode.
func command(form url.Values) []byte {
	flat := map[string]string{}
	for _, name := range []string{"command", "text", "user_id", "user_name", "channel_id", "response_url"} {
		flat[name] = form.Get(name)
	}
	raw, _ := json.Marshal(flat) // encoding strings never fails
	return raw
}

// respond sends the complete response before the handler returns, because nod
// may have more work for the request. A nil reply means an empty response.
func respond(w http.ResponseWriter, reply any) error {
	var body []byte
	if reply != nil {
		var err error
		if body, err = json.Marshal(reply); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := w.Write(body); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
