package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/hooks"
)

// hookTimeout is the time that people have to respond to a hook if neither the
// hook nor its URL sets a timeout. It is long because agents wait for hooks.
const hookTimeout = bridge.Duration(time.Hour)

// A rescue responds to an error, or returns it.
type rescue func(w http.ResponseWriter, err error) error

// hook responds to an agent's hook.
func (s exchanges) hook(w http.ResponseWriter, r *http.Request, p Principal) error {
	agent, err := hooks.Find(r.PathValue("agent"))
	if err != nil {
		return err
	}
	in, err := readHook(r, agent)
	rescue := func(w http.ResponseWriter, err error) error { return s.rescueHook(w, r, p, agent, in, err) }
	if err == nil {
		err = s.askHook(w, r, p, agent, in, rescue)
	}
	if err != nil {
		return rescue(w, err)
	}
	return nil
}

// readHook reads the input of a hook. A report does not have to be complete.
func readHook(r *http.Request, agent hooks.Agent) (*dialect.HookInput, error) {
	in := agent.Input()
	_, err := io.Copy(in, r.Body)
	if in.Reports() {
		err = nil
	}
	return in, bodyError(err)
}

// rescueHook answers a hook over HTTP that failed, because the agent ignores a
// hook that fails: it runs the call of a gate, and asks about a permission at
// its own terminal. The command nod hook answers on its own.
func (s exchanges) rescueHook(w http.ResponseWriter, r *http.Request, p Principal, agent hooks.Agent, in *dialect.HookInput, err error) error {
	gate := slices.Contains(in.Events(), agent.Gate)
	event := agent.Gate
	if !gate {
		event = in.Event()
	}
	if !agent.Errs || r.URL.Query().Get("wait") != "" || !gate && event != agent.Permission {
		return err
	}
	code := bridge.ErrorCode(err)
	if code == bridge.CodeInternal || code == bridge.CodeUnavailable {
		s.log.Error("hook failed", "error", err)
	}
	u := dialect.Unasked{
		Gate: gate, Attended: agent.Attended(in, hooks.Origin{}), Unshown: code == bridge.CodeInvalid || code == bridge.CodeUnsupported,
	}
	if u.Leaves() && code != bridge.CodeUnavailable {
		stop, failed := s.stopOf(r.Context(), p, in)
		if stop != nil {
			return writeAnswer(w, agent.Stopped(event, *stop))
		}
		u.Stopped = failed != nil && gate
	}
	if u.Leaves() && !gate {
		return err
	}
	return writeAnswer(w, agent.Unasked(event, u, "nod could not ask anyone: "+bridge.PublicText(err)+". No person has denied it."))
}

// stopOf returns the stop of a session that the input of a hook names, or nil.
func (s exchanges) stopOf(ctx context.Context, p Principal, in *dialect.HookInput) (*bridge.Stop, error) {
	for _, session := range in.Sessions() {
		if stop, stopped, err := s.engine.Sessions.Stopped(ctx, p.Agent.Name, session); err != nil {
			return nil, err
		} else if stopped {
			return &stop, nil
		}
	}
	return nil, nil //nolint:nilnil // documented above
}

// askHook opens the requests of a hook. Without ?wait= it holds the connection
// for as long as people may respond. If the agent disconnects, the user has
// answered at the terminal, so the requests are cancelled.
func (s exchanges) askHook(w http.ResponseWriter, r *http.Request, p Principal, agent hooks.Agent, in *dialect.HookInput, rescue rescue) error {
	q := r.URL.Query()
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	u, err := claudecode.ParseUnanswered(q.Get("unanswered"))
	if err != nil {
		return err
	}
	body, err := in.Body()
	if err != nil {
		return err
	}
	t, err := agent.Translate(body, u == claudecode.DenySilence)
	if err != nil {
		return err
	}
	if agent.Before(in, hooks.Origin{Reviewed: q.Get("reviewed") == "true"}) {
		t.OnlyRules()
	}
	if agent.Gate != "" && in.Event() == agent.Gate {
		t.Gated(q.Get("gate"))
	}
	opts, err := optionsQuery(q)
	if err != nil {
		return err
	}
	s.reportHook(r.Context(), p, t.Report, q)
	if q.Get("join") == "" {
		for n := range t.Exchanges { // identical calls without an ID look the same
			t.Exchanges[n].Request.Join = t.Exchanges[n].Request.CallID.ID == "" && t.Exchanges[n].Request.Session != ""
		}
	}
	if opts.timeout == 0 {
		opts.timeout = hookTimeout
	}
	if q.Get("wait") == "" {
		wait, opts.cancelOnDisconnect = bridge.MaxTimeout, new(true)
	}
	if t.UnlessPending != "" {
		waits, err := s.engine.Sessions.Waits(r.Context(), p.Agent.Name, t.UnlessPending)
		if err != nil {
			return err
		}
		if waits {
			return writeAnswer(w, t.Answer)
		}
	}
	if t.Elsewhere != nil {
		if err := s.engine.DecidedElsewhere(r.Context(), p.Agent.Name, t.Elsewhere.Session, t.Elsewhere.Reason, t.Elsewhere.Decides); err != nil {
			return err
		}
		if err := s.engine.Ran(r.Context(), p.Agent.Name, t.Elsewhere.Session, t.Elsewhere.Calls(), t.Elsewhere.Ran); err != nil {
			return err
		}
		if t.Elsewhere.AllTurns {
			if err := s.engine.Sessions.Ended(r.Context(), p.Agent.Name, t.Elsewhere.Session); err != nil {
				return err
			}
		}
	}
	return s.exchange(w, r, p, t, opts, wait, rescue)
}

// expect allows a later report of a hook to find the request of its call.
func (s exchanges) expect(ctx context.Context, t dialect.Translation, r bridge.Request, rec bridge.Record) error {
	if t.Report == nil || r.Session == "" || r.Kind == bridge.KindNotice || rec.State == bridge.StateCancelled {
		return nil
	}
	var input json.RawMessage
	if r.Approval != nil {
		input = r.Approval.Input
	}
	call := dialect.CallOf(r.ToolCall, r.ToolName, input)
	if call == "" {
		return nil
	}
	return s.engine.Expect(ctx, rec.Interaction, call)
}
