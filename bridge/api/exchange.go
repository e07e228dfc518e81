package api

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
)

// around is what comes beside a message of a dialect.
type around struct {
	session, route     string
	timeout            bridge.Duration
	grace, batch       bridge.Duration
	onTimeout          bridge.OnTimeout
	cancelOnDisconnect bool
	oneAtATime, join   bool
}

func (a around) apply(r *bridge.Request) {
	if r.Session == "" {
		r.Session = a.session
	}
	r.Route, r.CancelOnDisconnect = a.route, r.CancelOnDisconnect || a.cancelOnDisconnect
	r.OneAtATime, r.Join = r.OneAtATime || a.oneAtATime, r.Join || a.join && r.Session != ""
	for _, d := range []struct {
		to   *bridge.Duration
		from bridge.Duration
	}{{&r.Timeout, a.timeout}, {&r.Grace, a.grace}, {&r.Batch, a.batch}} {
		if d.from != 0 {
			*d.to = d.from
		}
	}
	if a.onTimeout != "" {
		r.OnTimeout = a.onTimeout
	}
}

// aroundQuery reads it from a query.
func aroundQuery(q url.Values) (around, error) {
	a := around{session: q.Get("session"), route: q.Get("route"), onTimeout: bridge.OnTimeout(q.Get("on_timeout"))}
	for name, to := range map[string]*bridge.Duration{"timeout": &a.timeout, "grace": &a.grace, "batch": &a.batch} {
		v := q.Get(name)
		if v == "" {
			continue
		}
		d, err := time.ParseDuration(v)
		if err != nil {
			return a, bridge.Errorf(bridge.CodeInvalid, "%s: %q is not like 90s or 5m", name, v)
		}
		*to = bridge.Duration(d)
	}
	for name, to := range map[string]*bool{"cancel_on_disconnect": &a.cancelOnDisconnect, "one_at_a_time": &a.oneAtATime, "join": &a.join} {
		v := q.Get(name)
		if v == "" {
			continue
		}
		b, err := strconv.ParseBool(v)
		if err != nil {
			return a, bridge.Errorf(bridge.CodeInvalid, "%s: %q is not true or false", name, v)
		}
		*to = b
	}
	return a, nil
}

// dialect asks in another system's format, waits, and answers in that format.
func (s *Server) dialect(w http.ResponseWriter, r *http.Request, p Principal) error {
	translate, ok := dialects[r.PathValue("dialect")]
	if !ok {
		return bridge.Errorf(bridge.CodeNotFound, "there is no dialect %q", r.PathValue("dialect")).WithHint("see /openapi.yaml")
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
	beside, err := aroundQuery(r.URL.Query())
	if err != nil {
		return err
	}
	return s.exchange(w, r, p, t, beside, wait)
}

// hookTimeout is how long people have to answer what a hook asks, where
// neither the hook nor its address says it: an agent waits patiently.
const hookTimeout = bridge.Duration(time.Hour)

// hook answers an agent's hook. An HTTP hook cannot block with an error: Claude
// Code goes on as if there were none. So a gate that fails is denied here.
func (s *Server) hook(w http.ResponseWriter, r *http.Request, p Principal) error {
	body, err := readRaw(r)
	if err == nil {
		err = s.askHook(w, r, p, body)
	}
	if err == nil || r.PathValue("agent") != "claude" || r.URL.Query().Get("wait") != "" || !claudecode.IsGate(body) {
		return err
	}
	if code := bridge.ErrorCode(err); code == bridge.CodeInternal || code == bridge.CodeUnavailable {
		s.log.Error("hook failed", "error", err)
	}
	return writeAnswer(w, claudecode.Failed("PreToolUse", "nod could not ask anybody: "+bridge.PublicText(err)+". No person has denied it."))
}

// askHook asks what a hook is given. Without ?wait= the connection is held for as
// long as people may answer, and its end withdraws the question: then the
// person has answered at the terminal.
func (s *Server) askHook(w http.ResponseWriter, r *http.Request, p Principal, body []byte) error {
	q := r.URL.Query()
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	u, err := claudecode.ParseUnanswered(q.Get("unanswered"))
	if err != nil {
		return err
	}
	var t dialect.Translation
	switch r.PathValue("agent") {
	case "claude":
		t, err = claudecode.Hook(body, u)
	case "codex":
		t, err = codex.Hook(body, u == claudecode.DenySilence)
	default:
		err = bridge.Errorf(bridge.CodeNotFound, "there is no hook for %q", r.PathValue("agent")).WithHint("claude and codex have one")
	}
	if err != nil {
		return err
	}
	beside, err := aroundQuery(q)
	if err != nil {
		return err
	}
	if q.Get("join") == "" {
		beside.join = true // agents repeat themselves: a hook for the call, one for its permission
	}
	if beside.timeout == 0 {
		beside.timeout = hookTimeout
	}
	if q.Get("wait") == "" {
		wait, beside.cancelOnDisconnect = bridge.MaxTimeout, true
	}
	if t.Elsewhere != nil {
		if err := s.engine.DecidedElsewhere(r.Context(), p.Agent.Name, t.Elsewhere.Session, t.Elsewhere.Reason, t.Elsewhere.Covers); err != nil {
			return err
		}
	}
	return s.exchange(w, r, p, t, beside, wait)
}

// exchange asks what a message wants to know, waits, and answers in its
// format. What is still pending when the wait is over is answered with its
// records and the status Accepted.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, p Principal, t dialect.Translation, beside around, wait time.Duration) error {
	header := r.Header.Get("Idempotency-Key")
	records := make([]bridge.Record, len(t.Exchanges))
	for n := range t.Exchanges {
		x := &t.Exchanges[n]
		beside.apply(&x.Request)
		if x.Key == "" && header != "" {
			x.Key = header + "/" + strconv.Itoa(n)
		}
		var err error
		if records[n], err = s.engine.Open(r.Context(), *p.Agent, x.Request, x.Key); err != nil {
			return err
		}
	}
	requestRead(w)
	return s.answerDialect(w, r, t, records, wait)
}

func (s *Server) answerDialect(w http.ResponseWriter, r *http.Request, t dialect.Translation, records []bridge.Record, wait time.Duration) error {
	ctx, cancel := s.waitContext(r.Context(), wait)
	defer cancel()
	var answers []any
	for n := range records {
		rec, err := s.engine.Await(ctx, records[n].Interaction.ID)
		switch {
		case r.Context().Err() != nil:
			for _, rec := range records {
				s.abandoned(rec)
			}
			return nil // the caller has gone
		case ctx.Err() != nil || err == nil && !rec.State.Final():
			return write(w, http.StatusAccepted, bridge.List{Items: records})
		case err != nil:
			return err
		}
		records[n] = rec
		a, err := t.Exchanges[n].Answer(asSent(rec, t.Exchanges[n].Request))
		if err != nil {
			return ended(err)
		}
		answers = append(answers, a)
	}
	out, err := joined(t, answers)
	if err != nil {
		return err
	}
	return s.proveAnswer(w, r, records, out)
}

// proveAnswer sends the answer to a message with what proves it, and notes that
// the agent received it.
func (s *Server) proveAnswer(w http.ResponseWriter, r *http.Request, records []bridge.Record, answer any) error {
	kind, body, err := encodeAnswer(answer)
	if err != nil {
		return err
	}
	statement, err := s.engine.Evidence.StateAnswer(records, body)
	if err != nil {
		return err
	}
	for _, rec := range records {
		w.Header().Add(receiptHeader, rec.Receipt)
	}
	w.Header().Set(answerHeader, statement)
	w.Header().Set("Content-Type", kind)
	if _, err := w.Write(body); err != nil || http.NewResponseController(w).Flush() != nil {
		return nil //nolint:nilerr // not delivered
	}
	for _, rec := range records {
		s.noteDelivered(r.Context(), rec)
	}
	return nil
}

// asSent is a record with the input that its agent sent, where credentials in
// it were hidden from everybody else.
func asSent(rec bridge.Record, r bridge.Request) bridge.Record {
	if rec.Interaction.Redacted > 0 && rec.Interaction.Approval != nil && r.Approval != nil {
		a := *rec.Interaction.Approval
		a.Input = r.Approval.Input
		rec.Interaction.Approval = &a
	}
	return rec
}

// joined is the answer to a whole message.
func joined(t dialect.Translation, answers []any) (any, error) {
	switch {
	case len(answers) == 0:
		return t.Answer, nil
	case t.Join != nil:
		return t.Join(answers)
	}
	return answers[0], nil
}

// encodeAnswer is an answer as it is sent, and its type.
func encodeAnswer(v any) (kind string, body []byte, err error) {
	if t, ok := v.(text); ok {
		return "text/plain; charset=utf-8", []byte(t), nil
	}
	body, err = dialect.Encode(v)
	return "application/json", body, err
}

// writeAnswer sends an answer that no request is behind.
func writeAnswer(w http.ResponseWriter, answer any) error {
	kind, body, err := encodeAnswer(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // a client that is gone needs no answer
	return nil
}
