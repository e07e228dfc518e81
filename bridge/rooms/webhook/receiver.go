package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Limits of a delivery.
const (
	callTimeout = 15 * time.Second
	// maxAnswer is the number of bytes of a response that are read, so that its
	// connection can be reused.
	maxAnswer = 64 << 10
	minSecret = 24 // in bytes, from Standard Webhooks
	maxSecret = 64
	// SecretPrefix is the prefix of every secret.
	SecretPrefix = "whsec_"
)

// HookOptions configures a Hook.
type HookOptions struct {
	Name string
	URL  string
	// Secret is "whsec_" followed by 24 to 64 bytes in base64. Several secrets
	// are separated by commas and all of them sign, which allows rotation.
	Secret string
	Agents []string // agents whose requests are delivered; if empty, all
	Client *http.Client
}

// Hook is a receiver of outcomes. It implements bridge.Webhook.
type Hook struct {
	name, url string
	keys      [][]byte
	agents    []string
	client    *http.Client
}

var _ bridge.Webhook = (*Hook)(nil)

// NewHook returns a receiver. It does not use the network.
func NewHook(o HookOptions) (*Hook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "webhooks.%s.url: not an http or https URL", o.Name)
	}
	h := &Hook{name: o.Name, url: o.URL, agents: o.Agents, client: o.Client}
	for s := range strings.SplitSeq(o.Secret, ",") {
		encoded, found := strings.CutPrefix(strings.TrimSpace(s), SecretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !found || err != nil || len(key) < minSecret || len(key) > maxSecret {
			return nil, bridge.
				Errorf(bridge.CodeInvalid, "webhooks.%s.secret: must be whsec_ and %d to %d bytes in base64", o.Name, minSecret, maxSecret).
				WithHint("create one with: echo whsec_$(openssl rand -base64 32)")
		}
		h.keys = append(h.keys, key)
	}
	if h.client == nil {
		h.client = &http.Client{}
	}
	client := *h.client
	// Deliver to the configured URL only.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.client = &client
	return h, nil
}

// Name implements bridge.Webhook.
func (h *Hook) Name() string { return h.name }

// Wants implements bridge.Webhook.
func (h *Hook) Wants(agent string) bool {
	return len(h.agents) == 0 || slices.Contains(h.agents, agent)
}

// Send implements bridge.Webhook.
func (h *Hook) Send(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "webhook %s", h.name)
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "nod")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", at)
	req.Header.Set("Webhook-Signature", h.sign(id, at, body))
	resp, err := h.client.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // omit the URL, which may contain a secret
		}
		return bridge.Wrap(bridge.CodeUnavailable, err, "webhook %s", h.name)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // only the status matters
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusGone:
		return bridge.Errorf(bridge.CodeNotFound, "webhook %s: the receiver responded 410 Gone", h.name)
	}
	e := bridge.Errorf(bridge.CodeUnavailable, "webhook %s: the receiver responded %s", h.name, resp.Status)
	e.RetryAfter = bridge.RetryAfter(resp.Header)
	return e
}

// sign returns the signatures of all secrets.
func (h *Hook) sign(id, at string, body []byte) string {
	var out []string
	for _, key := range h.keys {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(id + "." + at + "."))
		m.Write(body)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil)))
	}
	return strings.Join(out, " ")
}
