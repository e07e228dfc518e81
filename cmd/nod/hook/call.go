package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/hooks"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/cmd/nod/caller"
)

const (
	// ReportTime limits the delay that a hook without a decision causes its
	// agent, unless --report-time sets another limit. Such a hook retries for a
	// third of that time.
	ReportTime = 300 * time.Millisecond
	// acknowledgeTime limits the time to record that the agent has the answer.
	// The agent waits until the hook ends.
	acknowledgeTime = time.Second
)

// call is one run of a hook.
type call struct {
	flags
	agent  hooks.Agent
	origin hooks.Origin
	in     *dialect.HookInput
	body   []byte
	errs   io.Writer // stderr of the agent's user
	began  time.Time

	client *client.Client
	asked  []bridge.ID // answered requests
}

// answer returns the output of the hook.
func (h *call) answer(ctx context.Context) (json.RawMessage, error) {
	t, err := h.translate()
	if err != nil {
		return nil, err
	}
	asks := len(t.Exchanges) > 0
	if !asks && t.Elsewhere == nil && t.Report == nil {
		return dialect.Encode(t.Answer)
	}
	if h.client, err = caller.New(h.url); err != nil {
		return nil, err
	}
	if !asks || h.in.Reports() {
		h.report(ctx)
		return dialect.Encode(t.Answer)
	}
	return h.ask(ctx, t)
}

func (h *call) query() url.Values {
	grace := h.grace
	if grace != 0 && h.agent.Blocks { // from an older nod init
		grace = 0
		fmt.Fprintf(h.errs, "nod: --grace is ignored: %s waits for its hooks before it asks at the terminal\n", h.agent.Title)
	}
	q := caller.Query(h.route, h.timeout, grace)
	q.Set("unanswered", h.unanswered)
	if h.gate != "" {
		q.Set("gate", h.gate)
	}
	if h.origin.Reviewed {
		q.Set("reviewed", "true")
	}
	h.describe(q)
	return q
}

// report tells the daemon what happened. A failure does not stop the agent.
func (h *call) report(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.reportTime)
	defer cancel()
	h.client.Patience, h.client.FirstPatience = h.reportTime/3, 0
	if h.watch { // the agent waits for this hook, so the hook does not retry
		h.client.Patience = time.Nanosecond
	}
	_, err := h.client.Exchange(ctx, client.Exchange{
		Path: "/v1/hooks/" + h.agent.Name, Query: h.query(), Body: h.body, Keep: true, Pending: func([]bridge.Record) { cancel() },
	})
	switch {
	case err == nil || errors.Is(ctx.Err(), context.Canceled): // told
	case ctx.Err() != nil:
		fmt.Fprintf(h.errs, "nod did not get the report: the daemon did not respond within %s (see --report-time)\n", h.reportTime)
	default:
		fmt.Fprintf(h.errs, "nod did not get the report: %s\n", visible.Line(bridge.PublicText(err)))
	}
}

// ask asks people, and returns their answer after verifying it.
func (h *call) ask(ctx context.Context, t dialect.Translation) (json.RawMessage, error) {
	h.client.Patience, h.client.FirstPatience = max(h.patience, time.Nanosecond), 0 // zero means the default of the client
	q := h.query()
	q.Set("acknowledges", "true")
	answer, err := h.client.Exchange(ctx, client.Exchange{Path: "/v1/hooks/" + h.agent.Name, Query: q, Body: h.body, Doubts: caller.DoubtsAbout(t), Reason: func() string { return caller.Reason(ctx) }, Check: func(a client.Answered) error {
		if err := caller.Covered(t, a); err != nil {
			return err
		}
		h.asked = a.Interactions
		if h.agent.Check != nil && string(bytes.TrimSpace(a.Body)) != "{}" {
			return h.agent.Check(h.in.Event(), a.Body)
		}
		return nil
	}})
	if code := bridge.ErrorCode(err); code == bridge.CodeInvalid || code == bridge.CodeUnsupported {
		err = unshown{err}
	}
	return answer, err
}

// acknowledge tells the daemon that the agent has the answer. The daemon
// records this when the agent reads its own request.
func (h *call) acknowledge(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, acknowledgeTime)
	defer cancel()
	for _, id := range h.asked {
		// best effort: otherwise, the card says that the agent has not received
		// the answer
		_, _ = h.client.Get(ctx, id)
	}
}

// translate reads the input in the same way as the daemon.
func (h *call) translate() (dialect.Translation, error) {
	u, err := claudecode.ParseUnanswered(h.unanswered)
	if err != nil {
		return dialect.Translation{}, err
	}
	if _, err := policy.ParseGates(h.gate); err != nil {
		return dialect.Translation{}, err
	}
	t, err := h.agent.Translate(h.body, u == claudecode.DenySilence)
	if err != nil {
		return t, unshown{err}
	}
	if h.agent.Before(h.in, h.origin) {
		t.OnlyRules()
	}
	if h.agent.Gate != "" && h.in.Event() == h.agent.Gate {
		t.Gated(h.gate)
	}
	return t, nil
}

// describe adds facts about the session that only the process of the hook
// knows, for the message of the session.
func (h *call) describe(q url.Values) {
	q.Set("at", strconv.FormatInt(h.began.UnixMilli(), 10))
	if host, err := os.Hostname(); err == nil {
		host, _, _ = strings.Cut(host, ".")
		q.Set("host", host)
	}
	var in struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(h.body, &in) == nil && filepath.IsAbs(in.Cwd) {
		if below := caller.BelowHome(in.Cwd); below != in.Cwd {
			q.Set("folder", below)
		}
		if b := caller.Branch(in.Cwd); b != "" {
			q.Set("branch", b)
		}
	}
}
