// Package webhook delivers the outcome of requests to other systems, as
// Standard Webhooks (standardwebhooks.com) describes it.
//
// What belongs here is one delivery: the signature, the HTTP call, and the
// meaning of the receiver's status. When to deliver, what the body contains
// and when to try again belong to the engine and its outbox.
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

// Bounds of a delivery.
const (
	callTimeout = 15 * time.Second
	maxAnswer   = 64 << 10 // bytes that are read of an answer, so that its connection can be used again
	minSecret   = 24       // bytes, as Standard Webhooks has it
	maxSecret   = 64
	// SecretPrefix begins a secret.
	SecretPrefix = "whsec_"
)

// Options configures a Hook.
type Options struct {
	Name string
	URL  string
	// Secret is whsec_ and 24 to 64 bytes as base64. Several, with commas
	// between them, all sign: so a secret is rotated.
	Secret string
	Agents []string // whose requests are told; empty: all
	Client *http.Client
}

// Hook is one receiver. It implements bridge.Webhook.
type Hook struct {
	name, url string
	keys      [][]byte
	agents    []string
	client    *http.Client
}

var _ bridge.Webhook = (*Hook)(nil)

// New returns a receiver. It does not touch the network.
func New(o Options) (*Hook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "webhooks.%s.url: is not an http or https address", o.Name)
	}
	h := &Hook{name: o.Name, url: o.URL, agents: o.Agents, client: o.Client}
	for s := range strings.SplitSeq(o.Secret, ",") {
		encoded, found := strings.CutPrefix(strings.TrimSpace(s), SecretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !found || err != nil || len(key) < minSecret || len(key) > maxSecret {
			return nil, bridge.Errorf(bridge.CodeInvalid, "webhooks.%s.secret: is not whsec_ and %d to %d bytes as base64", o.Name, minSecret, maxSecret).WithHint("make one with: echo whsec_$(openssl rand -base64 32)")
		}
		h.keys = append(h.keys, key)
	}
	if h.client == nil {
		h.client = &http.Client{}
	}
	client := *h.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the address was configured, and no other
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
			err = ue.Err // without the address, which may hold a secret
		}
		return bridge.Wrap(bridge.CodeUnavailable, err, "webhook %s", h.name)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // the status says it all
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusGone:
		return bridge.Errorf(bridge.CodeNotFound, "webhook %s: the receiver wants no more", h.name)
	}
	e := bridge.Errorf(bridge.CodeUnavailable, "webhook %s: the receiver answered %s", h.name, resp.Status)
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		e.RetryAfter = time.Duration(n) * time.Second
	}
	return e
}

// sign signs with every secret.
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
