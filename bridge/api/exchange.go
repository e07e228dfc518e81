package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/timespan"
)

// options holds the options that accompany a message in a dialect.
type options struct {
	session, route string
	timeout        bridge.Duration
	grace          bridge.Duration
	onTimeout      bridge.OnTimeout
	join           bool
	// If these are not nil, they replace the settings of the dialect.
	cancelOnDisconnect, oneAtATime *bool
}

// acknowledges is the query parameter of a caller that reports separately when
// its agent has received the answer, by reading the requests.
const acknowledges = "acknowledges"

func (a options) apply(r *bridge.Request) {
	if r.Session == "" {
		r.Session = a.session
	}
	r.Now = true // each format has its own answer for an undeliverable request
	r.Route, r.Join = a.route, r.Join || a.join && r.Session != ""
	r.CancelOnDisconnect = chosen(a.cancelOnDisconnect, r.CancelOnDisconnect)
	r.OneAtATime = chosen(a.oneAtATime, r.OneAtATime && r.Session != "")
	r.SameTool = r.SameTool && a.oneAtATime == nil
	for _, d := range []struct {
		to   *bridge.Duration
		from bridge.Duration
	}{{&r.Timeout, a.timeout}, {&r.Grace, a.grace}} {
		if d.from != 0 {
			*d.to = d.from
		}
	}
	if a.onTimeout != "" {
		r.OnTimeout = a.onTimeout
	}
}

// chosen returns the choice of the caller, or otherwise the default.
func chosen(choice *bool, standard bool) bool {
	if choice != nil {
		return *choice
	}
	return standard
}

// optionsQuery returns the options in a query.
func optionsQuery(q url.Values) (options, error) {
	a := options{session: q.Get("session"), route: q.Get("route"), onTimeout: bridge.OnTimeout(q.Get("on_timeout"))}
	for name, to := range map[string]*bridge.Duration{"timeout": &a.timeout, "grace": &a.grace} {
		v := q.Get(name)
		if v == "" {
			continue
		}
		d, err := timespan.Parse(v)
		if err != nil {
			return a, bridge.Errorf(bridge.CodeInvalid, "%s: invalid duration %q (such as 90s or 5m)", name, v)
		}
		*to = bridge.Duration(d)
	}
	join := &a.join
	for name, to := range map[string]**bool{"cancel_on_disconnect": &a.cancelOnDisconnect, "one_at_a_time": &a.oneAtATime, "join": &join} {
		v := q.Get(name)
		if v == "" {
			continue
		}
		b, err := strconv.ParseBool(v)
		if err != nil {
			return a, bridge.Errorf(bridge.CodeInvalid, "%s: invalid value %q (true or false)", name, v)
		}
		*to = &b
	}
	a.join = *join
	return a, nil
}

// dialect opens the requests of a message in a dialect, waits, and responds in
// the same dialect.
func (s exchanges) dialect(w http.ResponseWriter, r *http.Request, p Principal) error {
	translate, ok := dialects[r.PathValue("dialect")]
	if !ok {
		return bridge.Errorf(bridge.CodeNotFound, "unknown dialect %q", r.PathValue("dialect")).WithHint("see /openapi.yaml for all dialects")
	}
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("wait") == "" {
		wait = maxWait
	}
	body, err := readRaw(r)
	if err != nil {
		return err
	}
	t, err := translate(body)
	if err != nil {
		return err
	}
	opts, err := optionsQuery(r.URL.Query())
	if err != nil {
		return err
	}
	return s.exchange(w, r, p, t, opts, wait, nil)
}

// exchange opens the requests of a message, waits, and responds in the
// message's format. If requests are still pending when the wait is over, it
// responds with their records and the status Accepted.
func (s exchanges) exchange(w http.ResponseWriter, r *http.Request, p Principal, t dialect.Translation, opts options, wait time.Duration, rescue rescue) error {
	call, err := callOf(r)
	if err != nil {
		return err
	}
	doubts, err := doubtsOf(r)
	if err != nil {
		return err
	}
	t.Identify(call)
	all := make([]waited, len(t.Exchanges))
	for n := range t.Exchanges {
		x := &t.Exchanges[n]
		opts.apply(&x.Request)
		x.Request.Doubts = doubts
		if n > 0 {
			x.Request.CallID.First = all[0].id
		}
		rec, err := s.engine.Open(r.Context(), *p.Agent, x.Request, x.Request.CallID.Key)
		if err != nil {
			s.leaveAll(r.Context(), all[:n], call.Caller)
			return dialect.Named(err, x.Names)
		}
		if rec.Interaction.ID == "" { // no gate selects the request, so it was not stored
			return s.leave(w, t, rec)
		}
		if err := s.expect(r.Context(), t, x.Request, rec); err != nil {
			return err
		}
		all[n] = waited{rec.Interaction.ID, rec.Interaction.CancelOnDisconnect}
	}
	return s.answerDialect(w, r, t, all, wait, rescue)
}

// leaveAll cancels the requests of a message after one of them was refused,
// because the caller gets an error instead of the answers. Requests for which
// other callers wait stay open.
func (s exchanges) leaveAll(ctx context.Context, all []waited, caller string) {
	for _, x := range all {
		_, err := s.engine.Leave(context.WithoutCancel(ctx), x.id, bridge.CallerName(caller), "another request of the same message was refused")
		if err != nil {
			s.log.Warn("request of a refused message not cancelled", "id", x.id, "error", err)
		}
	}
}

// proveAnswer sends the response to a message with its evidence. It records
// that the response has reached the agent, unless the agent acknowledges it
// separately.
func (s exchanges) proveAnswer(ctx context.Context, w http.ResponseWriter, t dialect.Translation, records []bridge.Record, answers []any, caller string, acknowledged bool) error {
	out, err := joined(t, answers)
	if err != nil {
		return err
	}
	kind, body, err := encodeAnswer(out)
	if err != nil {
		return err
	}
	statement, err := s.engine.Audit.StateAnswer(records, body)
	if err != nil {
		return err
	}
	for _, rec := range records {
		if err := s.engine.Sending(ctx, rec, bridge.CallerName(caller)); err != nil {
			return err
		}
	}
	for _, rec := range records {
		w.Header().Add(receiptHeader, rec.Receipt)
		w.Header().Add(interactionHeader, string(rec.Interaction.ID))
	}
	w.Header().Set(answerHeader, statement)
	w.Header().Set("Content-Type", kind)
	if _, err := w.Write(body); err != nil || http.NewResponseController(w).Flush() != nil {
		return nil //nolint:nilerr // not delivered
	}
	if acknowledged {
		return nil
	}
	for _, rec := range records {
		s.noteDelivered(ctx, rec)
	}
	return nil
}

// leave sends the response to a message with one request, with its evidence, if
// the request is left to its agent.
func (s exchanges) leave(w http.ResponseWriter, t dialect.Translation, rec bridge.Record) error {
	answer, err := t.Exchanges[0].Answer(rec)
	if err != nil {
		return err
	}
	kind, body, err := encodeAnswer(answer)
	if err != nil {
		return err
	}
	statement, err := s.engine.Audit.StateAnswer([]bridge.Record{rec}, body)
	if err != nil {
		return err
	}
	w.Header().Set(receiptHeader, "")
	w.Header().Set(answerHeader, statement)
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the caller may have disconnected
	return nil
}

// joined returns the response to all exchanges of a message.
func joined(t dialect.Translation, answers []any) (any, error) {
	switch {
	case len(answers) == 0:
		return t.Answer, nil
	case t.Join != nil:
		return t.Join(answers)
	}
	return answers[0], nil
}

// encodeAnswer returns the body of a response and its content type.
func encodeAnswer(v any) (kind string, body []byte, err error) {
	if t, ok := v.(text); ok {
		return "text/plain; charset=utf-8", []byte(t), nil
	}
	body, err = dialect.Encode(v)
	return "application/json", body, err
}

// writeAnswer sends a response that does not belong to any request.
func writeAnswer(w http.ResponseWriter, answer any) error {
	kind, body, err := encodeAnswer(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the caller may have disconnected
	return nil
}
