package relay

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	// stopPoll is the interval at which nod checks whether a working session
	// was stopped.
	stopPoll = 500 * time.Millisecond
	// reportLimit is the time limit for a report to the daemon, and endLimit
	// the limit for the last reports.
	reportLimit, endLimit = 2 * time.Second, 2 * time.Second
	// maxReports is the maximum number of waiting reports. Later reports are
	// dropped.
	maxReports = 100
	// nextMessage names the input that a session needs after its turn.
	nextMessage = "your next message"
)

// Sessions reports the sessions of an agent, and provides the stops and
// messages from people. It is safe for concurrent use.
type Sessions interface {
	Inbox
	Reporter
}

// attendant follows the sessions between an ACP agent and its client. It
// reports the sessions, stops them, and passes on the messages that people
// write to them.
type attendant struct {
	Sessions
	agent   *Agent
	ctx     context.Context
	end     context.CancelFunc
	reports chan reported
	work    sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*attended
	calls    map[string]func(Message) // open requests about sessions, by ID
	over     bool
}

// reported is a waiting report.
type reported struct {
	session string
	report  bridge.SessionReport
}

// attended is a session of an agent. The lock of its attendant protects it.
type attended struct {
	id, folder string
	turns      int // running turns
	// own is set while a turn that nod started is running. held contains the
	// prompts of the client that wait for the end of that turn.
	own       bool
	held      []Message
	cancelled bool          // nod has cancelled the running turns
	followed  bool          // watch and listen are running
	changed   chan struct{} // closed at the next start or end of a turn
	taken     func()        // called when the agent starts to work on nod's turn
	text      strings.Builder
}

func attend(a *Agent, s Sessions) *attendant {
	t := &attendant{
		Sessions: s, agent: a, reports: make(chan reported, maxReports),
		sessions: map[string]*attended{}, calls: map[string]func(Message){},
	}
	t.ctx, t.end = context.WithCancel(context.Background())
	t.work.Go(func() {
		for {
			select {
			case r := <-t.reports:
				t.send(t.ctx, r, reportLimit)
			case <-t.ctx.Done():
				return
			}
		}
	})
	return t
}

// close reports that the sessions have ended. It is called when the client or
// the agent is gone.
func (t *attendant) close() {
	t.mu.Lock()
	over := t.over
	t.over = true
	sessions := t.sessions
	t.sessions = map[string]*attended{}
	t.mu.Unlock()
	if over {
		return
	}
	t.end()
	t.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	for id := range sessions {
		t.send(ctx, reported{id, bridge.SessionReport{State: bridge.SessionFinished}}, endLimit)
	}
}

func (t *attendant) send(ctx context.Context, r reported, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := t.Report(ctx, r.session, r.report); err != nil && t.ctx.Err() == nil {
		t.agent.log.Warn("session not reported", "session", r.session, "error", bridge.PublicText(err))
	}
}

// tell queues a report, so that the messages from the agent do not wait for it.
func (t *attendant) tell(session string, r bridge.SessionReport) {
	r.At = time.Now()
	select {
	case t.reports <- reported{session, r}:
	default: // the next report contains this state too
	}
}

// ofSession holds the fields that nod reads from messages about a session.
type ofSession struct {
	Session string          `json:"sessionId"`
	Cwd     string          `json:"cwd"`
	Prompt  []block         `json:"prompt"`
	Update  json.RawMessage `json:"update"`
}

// block is a part of a prompt or a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// fromClient follows a message of the client. It returns true for a prompt that
// must wait for the end of a turn that nod started.
func (t *attendant) fromClient(m Message) bool {
	var p ofSession
	if !m.IsRequest() || !strings.HasPrefix(m.Method, "session/") || limits.Decode(m.Params, &p) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m.Method {
	case "session/new", "session/load", "session/resume":
		t.calls[idKey(m.ID)] = func(got Message) {
			var r ofSession
			if len(got.Error) > 0 || limits.Decode(got.Result, &r) != nil {
				return
			}
			if r.Session == "" {
				r.Session = p.Session
			}
			t.session(r.Session).folder = p.Cwd
		}
	case "session/prompt":
		s := t.session(p.Session)
		if s.own {
			s.held = append(s.held, m)
			return true
		}
		t.begin(s, m, p)
	}
	return false
}

// session returns a session. The caller holds the lock.
func (t *attendant) session(id string) *attended {
	s := t.sessions[id]
	if s == nil {
		s = &attended{id: id, changed: make(chan struct{})}
		t.sessions[id] = s
	}
	return s
}

// begin records a turn of the client. At the first turn, nod starts to show the
// session to people. The caller holds the lock.
func (t *attendant) begin(s *attended, m Message, p ofSession) {
	var texts []string
	for _, b := range p.Prompt {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	t.turn(s)
	t.tell(s.id, bridge.SessionReport{State: bridge.SessionWorking, Folder: s.folder, Prompt: strings.Join(texts, " ")})
	t.calls[idKey(m.ID)] = func(Message) { t.ended(s) }
}

// turn counts a turn that starts. The caller holds the lock.
func (t *attendant) turn(s *attended) {
	s.turns++
	s.cancelled = false
	s.text.Reset()
	close(s.changed)
	s.changed = make(chan struct{})
	if !s.followed && !t.over {
		s.followed = true
		t.work.Go(func() { t.watch(s) })
		t.work.Go(func() { t.listen(s) })
	}
}

// ended records the end of a turn. The caller holds the lock.
func (t *attendant) ended(s *attended) {
	s.turns--
	close(s.changed)
	s.changed = make(chan struct{})
	if s.turns == 0 {
		t.tell(s.id, bridge.SessionReport{State: bridge.SessionWaiting, Waits: nextMessage, Last: s.text.String()})
	}
}

// fromServer follows a message from the agent. It returns true for the response
// to a prompt from nod.
func (t *attendant) fromServer(m Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.IsResponse() {
		then := t.calls[idKey(m.ID)]
		delete(t.calls, idKey(m.ID))
		if then != nil {
			then(m)
		}
		return then != nil && strings.HasPrefix(string(m.ID), promptMark)
	}
	var p ofSession
	if m.Method == "session/update" && limits.Decode(m.Params, &p) == nil && t.sessions[p.Session] != nil {
		t.updated(t.sessions[p.Session], p.Update)
	}
	return false
}

// working lists the updates that an agent sends only while it works.
var working = []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}

// updated records an update from the agent. The caller holds the lock.
func (t *attendant) updated(s *attended, raw json.RawMessage) {
	var u struct {
		Kind    string          `json:"sessionUpdate"`
		Title   string          `json:"title"`
		Content json.RawMessage `json:"content"`
	}
	if limits.Decode(raw, &u) != nil {
		return
	}
	if s.own && slices.Contains(working, u.Kind) {
		s.taken()
	}
	switch u.Kind {
	case "agent_message_chunk":
		var b block
		if limits.Decode(u.Content, &b) == nil && s.text.Len() < 4*bridge.MaxLastMessage {
			s.text.WriteString(b.Text)
		}
	case "tool_call":
		s.text.Reset() // keep only the text after the last step
		t.tell(s.id, bridge.SessionReport{State: bridge.SessionWorking, Step: u.Title})
	case "session_info_update":
		if u.Title != "" {
			t.tell(s.id, bridge.SessionReport{Title: u.Title, Update: true})
		}
	}
}

// until waits until the number of turns satisfies a condition.
func (t *attendant) until(s *attended, ok func(turns int) bool) bool {
	for {
		t.mu.Lock()
		done, changed := ok(s.turns), s.changed
		t.mu.Unlock()
		if done {
			return t.ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-t.ctx.Done():
			return false
		}
	}
}

// watch cancels the turns of a session while it is stopped.
func (t *attendant) watch(s *attended) {
	for t.until(s, func(turns int) bool { return turns > 0 }) {
		t.heed(s)
		bridge.Pause(t.ctx, stopPoll)
	}
}

// heed cancels the turns of a session if the session is stopped, but only once.
func (t *attendant) heed(s *attended) {
	ctx, cancel := context.WithTimeout(t.ctx, reportLimit)
	stopped, err := t.Stopped(ctx, s.id)
	cancel()
	t.mu.Lock()
	stop := err == nil && stopped && s.turns > 0 && !s.cancelled
	s.cancelled = s.cancelled || stop
	t.mu.Unlock()
	if stop {
		t.agent.stop(s.id)
	}
}

// requestCancelled checks for a stop when a request of a session was cancelled,
// so that the agent learns of the end of its turn before it can continue.
func (t *attendant) requestCancelled(session string) {
	t.mu.Lock()
	s := t.sessions[session]
	t.mu.Unlock()
	if s != nil {
		t.heed(s)
	}
}
