package console

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/render"
)

// signView is the content of the page where a person proves an approval. Its
// HTML contains only markup that nod wrote.
type signView struct {
	Done     string // the recorded decision; empty before it is recorded
	Problem  string // reason that the person cannot sign; empty if the person can
	Hint     string
	Headline string
	Head     string // Headline as HTML
	From     string
	Body     string // HTML
	Notes    []string
	Changed  string // the edited input as HTML; empty if it was not edited
	Decision string
	Covers   []string
	Person   string
	Code     string // code to compare with the card
	Digest   string
	Request  bridge.ID
	Expires  time.Time
	Options  string // options for the passkey; empty if the person has none
}

// signing shows the request of a ticket. It changes nothing, so a link preview
// is harmless.
func (c *Console) signing(w http.ResponseWriter, r *http.Request) {
	s, err := c.engine.Passkeys.SignPage(r.Context(), r.PathValue("secret"))
	view, status := signView{}, http.StatusOK
	if err != nil {
		e := bridge.PublicError(err)
		if e.Code == bridge.CodeInternal || e.Code == bridge.CodeUnavailable {
			c.log.Error("page to sign not shown", "error", err)
		}
		view, status = signView{Problem: sentence(e.Message), Hint: sentence(e.Hint)}, e.Code.HTTPStatus()
	} else if view = (signView{Done: s.Done}); s.Done == "" {
		view = newSignView(s)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, view.page()) // the browser may have disconnected
}

func newSignView(s passkeys.SignPage) signView {
	t, i := s.Ticket, s.Record.Interaction
	shown := newCard(s.Record, true)
	out := signView{
		Headline: shown.Headline, Head: shown.Head, From: shown.From, Notes: shown.Notes,
		Body:     shown.Body,
		Decision: signedDecision(i, t.Response), Covers: i.Coverage(t.Response.Scope), Person: t.Actor.Person,
		Code: i.SignCode(), Digest: t.Statement.Payload, Request: i.ID, Expires: t.Expires(), Options: string(s.Options),
	}
	out.Notes = slices.DeleteFunc(out.Notes, func(n string) bool { return strings.Contains(n, out.Code) })
	if len(t.Response.Input) > 0 && i.Approval != nil {
		a := *i.Approval
		a.Input = t.Response.Input
		out.Changed = html(render.Input(a))
	}
	return out
}

// signedDecision describes the decision that a person signs.
func signedDecision(i bridge.Interaction, r bridge.Response) string {
	switch {
	case r.Scope.Kind() == bridge.ScopeSession, r.Scope.Kind() == bridge.ScopeAlways:
		return strings.TrimSuffix(render.DecisionLabel(i, bridge.Decision(r.Scope)), "…")
	case len(r.Input) > 0:
		return "Approve with your changes"
	}
	return "Approve once"
}

// sign takes the proof of a person.
func (c *Console) sign(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Passkey json.RawMessage `json:"passkey"`
	}
	err := read(r, &in)
	note := ""
	if err == nil {
		note, err = c.engine.Passkeys.Sign(r.Context(), r.PathValue("secret"), in.Passkey)
	}
	if err != nil {
		if code := bridge.ErrorCode(err); code == bridge.CodeInternal || code == bridge.CodeUnavailable {
			c.log.Error("approval not signed", "error", err)
		}
		fail(w, c.guessed(r, err))
		return
	}
	write(w, http.StatusOK, map[string]any{"note": note})
}

// linkOf returns the page where the person can continue after an error. It is
// empty for other errors.
func linkOf(err error) string {
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		return e.Link
	}
	return ""
}

// sentence returns an error as a complete sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
