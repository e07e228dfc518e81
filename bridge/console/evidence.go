package console

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/render"
)

// entry is an entry of the audit log in the form that the page shows.
type entry struct {
	At      time.Time        `json:"at"`
	Type    bridge.AuditType `json:"type"`
	ID      bridge.ID        `json:"id,omitempty"`
	Title   string           `json:"title,omitempty"` // title of the request; empty if the request is no longer stored
	Agent   string           `json:"agent,omitempty"`
	Session string           `json:"session,omitempty"`
	State   bridge.State     `json:"state,omitempty"`
	By      string           `json:"by,omitempty"`
	Why     string           `json:"why,omitempty"`
}

// auditor returns CodeForbidden unless the person of r may read the audit log.
func (c *Console) auditor(r *http.Request) error {
	if p, err := c.sessions.of(r); err != nil || !p.Auditor {
		return bridge.Errorf(bridge.CodeForbidden, "only auditors can read the audit log").
			WithHint("ask your nod administrator to set auditor: true for you in the config")
	}
	return nil
}

// audit lists entries of the audit log, newest first.
func (c *Console) audit(_ http.ResponseWriter, r *http.Request, _ bridge.Actor) (any, error) {
	if err := c.auditor(r); err != nil {
		return nil, err
	}
	entries, next, err := c.engine.Audit.Newest(r.Context(), r.URL.Query().Get("cursor"), inboxPage)
	if err != nil {
		return nil, err
	}
	items := []entry{}
	titles := map[bridge.ID]string{}
	for _, a := range entries {
		e := newEntry(a)
		if _, known := titles[a.ID]; !known && a.ID != "" {
			if titles[a.ID], err = c.title(r.Context(), a.ID); err != nil {
				return nil, err
			}
		}
		e.Title = titles[a.ID]
		items = append(items, e)
	}
	return map[string]any{"items": items, "next": next}, nil
}

// title returns the title of a request, or "" if the request is no longer
// stored.
func (c *Console) title(ctx context.Context, id bridge.ID) (string, error) {
	rec, err := c.engine.Get(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return render.Title(rec), nil
}

func newEntry(a bridge.AuditEntry) entry {
	out := entry{
		At: time.UnixMilli(a.Timestamp).UTC(), Type: a.Type, ID: a.ID, Agent: render.Line(a.Agent),
		Session: render.Line(a.Session), State: a.State,
	}
	var data struct {
		Actor  *bridge.Actor   `json:"actor"`
		By     json.RawMessage `json:"by"`
		Why    string          `json:"why"`
		Reason string          `json:"reason"`
		Covers json.RawMessage `json:"covers"`
		To     string          `json:"to"`
		State  bridge.State    `json:"state"`
	}
	if json.Unmarshal(a.Data, &data) != nil {
		return out // the type, the time and the request are still valid
	}
	if out.State == "" {
		out.State = data.State
	}
	var actor bridge.Actor
	var text string
	switch {
	case data.Actor != nil:
		out.By = render.Line(data.Actor.Display() + " on " + data.Actor.Platform)
	case json.Unmarshal(data.By, &actor) == nil && actor.Platform != "":
		out.By = render.Line(actor.Display() + " on " + actor.Platform)
	case json.Unmarshal(data.By, &text) == nil:
		out.By = render.Line(text)
	}
	out.Why = data.Why + data.Reason
	if a.Type == bridge.AuditGrant && json.Unmarshal(data.Covers, &text) == nil {
		out.Why = text
	}
	if data.To != "" {
		out.Why = "to " + data.To
	}
	out.Why = render.Cut(render.Line(out.Why), 300, render.Runes)
	return out
}

// verifyAudit checks the audit log.
func (c *Console) verifyAudit(_ http.ResponseWriter, r *http.Request, _ bridge.Actor) (any, error) {
	if err := c.auditor(r); err != nil {
		return nil, err
	}
	return c.engine.Audit.Verify(r.Context())
}

// oneReading decodes records. The input of a tool in them may be deeply nested.
var oneReading = strictjson.Limits{Depth: 1000}

// verified is the result of verifying a receipt.
type verified struct {
	Words   string        `json:"words"`
	Receipt proof.Receipt `json:"receipt"`
}

// verifyReceipt verifies a receipt, or the record of a request with its
// receipt. It returns CodeForbidden for a receipt that proves nothing.
func (c *Console) verifyReceipt(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	var in struct {
		Receipt string    `json:"receipt"`
		ID      bridge.ID `json:"id"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	keys := c.engine.Audit.PublicKeys()
	text := strings.TrimSpace(in.Receipt)
	var got proof.Receipt
	var err error
	switch {
	case len(keys.Keys) == 0:
		err = bridge.Errorf(bridge.CodeUnsupported, "this daemon has no keys for receipts")
	case in.ID != "":
		if _, err = c.shownID(r, in.ID, actor); err == nil {
			var rec bridge.Record
			if rec, err = c.engine.Get(r.Context(), in.ID); err == nil {
				got, err = keys.VerifyRecord(rec)
			}
		}
	case strings.HasPrefix(text, "{"):
		var rec bridge.Record
		if err = oneReading.Decode([]byte(text), &rec); err == nil {
			got, err = keys.VerifyRecord(rec)
		}
	default:
		got, err = keys.VerifyReceipt(text)
	}
	if err != nil {
		return nil, err
	}
	return verified{render.Line(got.Words()), got}, nil
}
