package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what can be asked at all. Platforms may show less and say so in
// their Check.
const (
	MaxDestinations  = 32        // an index fits one byte of a token with room
	MaxQuestions     = 20        // more is a survey, not a question
	MaxOptions       = 500       // per question
	MaxPrompt        = 64 << 10  // bytes
	MaxInput         = 256 << 10 // bytes of Approval.Input
	MaxHeader        = 12        // characters, as agents' own formats have it
	MaxLabel         = 300       // characters of an option's label
	MaxValue         = 1000      // bytes of an option's value
	MaxText          = 3000      // characters of a question, a description, a placeholder
	DefaultMaxLength = 3000      // characters of a typed answer; what every platform's input takes
	DefaultTimeout   = 5 * time.Minute
	MinTimeout       = time.Second
	MaxTimeout       = 30 * 24 * time.Hour
	DefaultHold      = 7 * 24 * time.Hour
	DefaultRounds    = 5
	MaxRounds        = 20
	MaxGrace         = 10 * time.Minute
	MaxBatchWindow   = 30 * time.Second
	MaxBatch         = 8    // approvals in one message
	MaxBatchItem     = 1500 // bytes of prompt and input of one of them
)

// Request is what an agent sends to open an interaction.
type Request struct {
	Kind      Kind       `json:"kind,omitempty"` // empty: approval if Approval is set, else ask
	Prompt    string     `json:"prompt"`
	Questions []Question `json:"questions,omitempty"`
	Approval  *Approval  `json:"approval,omitempty"`

	Session string `json:"session,omitempty"`
	// Correlation values of the agent, handed back untouched.
	ToolCall   string `json:"tool_call,omitempty"`
	Turn       string `json:"turn,omitempty"`
	ResponseID string `json:"response_id,omitempty"`
	// ToolName is the tool that asks; of an approval, empty means its tool.
	ToolName string `json:"tool_name,omitempty"`

	// Requester is the person of the config that the agent works for, who may
	// not answer then unless the route says so; empty: not said.
	Requester string `json:"requester,omitempty"`

	Route     string    `json:"route,omitempty"`   // empty: the route named default
	Timeout   Duration  `json:"timeout,omitempty"` // 0: DefaultTimeout
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
	// Hold is how long a question stays open once its agent was told that it
	// is queued; 0: DefaultHold.
	Hold Duration `json:"hold,omitempty"`

	// Grace holds the cards back for a while, in which the person at the
	// keyboard may answer there: no card is posted for what ends before.
	Grace Duration `json:"grace,omitempty"`
	// Batch waits so long for more approvals of the session on the same route,
	// and shows them in one message; 0: a message of its own. Each keeps its
	// own answer.
	Batch Duration `json:"batch,omitempty"`
	// Join makes an identical request of the session that is pending the answer
	// of this one too, instead of asking twice.
	Join bool `json:"join,omitempty"`
	// OneAtATime refuses the request while another of its session is pending.
	OneAtATime bool `json:"one_at_a_time,omitempty"`
	// CancelOnDisconnect withdraws the request when the connection of the
	// caller that waits for it ends.
	CancelOnDisconnect bool `json:"cancel_on_disconnect,omitempty"`
	// Declinable lets people end an ask without an answer.
	Declinable    bool           `json:"declinable,omitempty"`
	Presentation  Presentation   `json:"presentation,omitempty"`
	CompletedView *CompletedView `json:"completed_view,omitempty"`
	// Initial values by question id: filled in, and no answer on their own.
	Initial map[string]Answer `json:"initial,omitempty"`
	// Error is shown above the questions: why they are asked again.
	Error string `json:"error,omitempty"`
	// MaxRounds bounds how often the answer may be rejected and asked for
	// again, the first time included; 0: DefaultRounds.
	MaxRounds int `json:"max_rounds,omitempty"`

	// Awaited means that who opens it waits for it next; see Opening.Awaited.
	Awaited bool `json:"-"`
}

// Duration is a time.Duration written like "5m" in JSON; a bare number counts
// seconds.
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseFloat(string(b), 64); err == nil {
		*d = Duration(n * float64(time.Second))
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return Errorf(CodeInvalid, "duration: want text like \"5m\" or seconds")
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return Errorf(CodeInvalid, "duration: %q is not like \"90s\", \"5m\" or \"1h30m\"", s)
	}
	*d = Duration(v)
	return nil
}

// Normalize fills what may be left out and refuses what is wrong, naming the
// field. It changes r only if it returns nil.
func (r *Request) Normalize() error {
	c := *r
	c.Questions = slices.Clone(r.Questions)
	if strings.TrimSpace(c.Prompt) == "" {
		return Errorf(CodeInvalid, "prompt: is empty").WithHint("say what the human is asked")
	}
	for _, f := range []struct {
		name, text string
		max        int
	}{{"prompt", c.Prompt, MaxPrompt}, {"session", c.Session, 200}, {"tool_call", c.ToolCall, 200}, {"turn", c.Turn, 200}, {"response_id", c.ResponseID, 200}, {"tool_name", c.ToolName, 200}, {"route", c.Route, 100}, {"requester", c.Requester, 100}, {"error", c.Error, MaxText}} {
		if err := CheckText(f.name, f.text, f.max); err != nil {
			return err
		}
	}
	if c.Kind == "" {
		c.Kind = KindAsk
		if c.Approval != nil {
			c.Kind = KindApproval
		}
	}
	var err error
	switch c.Kind {
	case KindAsk:
		err = c.normalizeAsk()
	case KindApproval:
		err = c.normalizeApproval()
	case KindNotice:
		err = c.normalizeNotice()
	default:
		err = Errorf(CodeInvalid, "kind: unknown %q", c.Kind).WithHint("use ask, approval or notice")
	}
	for _, step := range []func() error{c.normalizeTimeout, c.normalizeLife, c.normalizeView} {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		*r = c
	}
	return err
}

func (r *Request) normalizeTimeout() error {
	if r.Timeout == 0 {
		r.Timeout = Duration(DefaultTimeout)
	}
	if d := time.Duration(r.Timeout); d < MinTimeout || d > MaxTimeout {
		return Errorf(CodeInvalid, "timeout: %s is not between %s and %s", d, MinTimeout, MaxTimeout)
	}
	if r.OnTimeout == "" {
		r.OnTimeout = OnTimeoutExpire
	}
	switch r.OnTimeout {
	case OnTimeoutExpire, OnTimeoutEscalate:
	case OnTimeoutPending:
		if r.Session == "" {
			return Errorf(CodeInvalid, "on_timeout: pending needs the request's session").WithHint("a late answer is delivered to the session")
		}
	case OnTimeoutDeny:
		if r.Kind != KindApproval {
			return Errorf(CodeInvalid, "on_timeout: deny is for approvals only")
		}
	case OnTimeoutDefault:
		if r.Kind != KindAsk {
			return Errorf(CodeInvalid, "on_timeout: default is for asks only")
		}
		fields := fieldsOf(r.Questions)
		_, problems := (Interaction{Questions: r.Questions}).Respond(nil)
		for n, f := range fields {
			if problems[n] != "" {
				return Errorf(CodeInvalid, "questions[%d].default: is needed with on_timeout default", f.Of)
			}
			if v, _ := (*Draft)(nil).Value(f); r.Questions[f.Of].Widget == WidgetPlanReview && v.Text == PlanApprove {
				return Errorf(CodeInvalid, "questions[%d].default: silence cannot approve a plan", f.Of).WithHint("use another default, or on_timeout: expire")
			}
		}
	default:
		return Errorf(CodeInvalid, "on_timeout: unknown %q", r.OnTimeout).WithHint("use expire, deny, default, escalate or pending")
	}
	return nil
}

func CheckHold(hold Duration) error {
	if d := time.Duration(hold); d < MinTimeout || d > MaxTimeout {
		return Errorf(CodeInvalid, "hold: %s is not between %s and %s", d, MinTimeout, MaxTimeout)
	}
	return nil
}

// Batches reports whether the request can be shown with others: its text is
// short, and every decision is a press.
func (r Request) Batches() bool {
	return r.Batch > 0 && r.Approval != nil && r.Session != "" && r.Approval.Confirm == "" && r.OnTimeout != OnTimeoutEscalate &&
		len(r.Prompt)+len(r.Approval.Input) <= MaxBatchItem
}

// normalizeLife checks what decides how the interaction lives.
func (r *Request) normalizeLife() error {
	if r.Hold == 0 {
		r.Hold = Duration(DefaultHold)
	}
	if err := CheckHold(r.Hold); err != nil {
		return err
	}
	if r.MaxRounds == 0 {
		r.MaxRounds = DefaultRounds
	}
	if r.MaxRounds < 1 || r.MaxRounds > MaxRounds {
		return Errorf(CodeInvalid, "max_rounds: %d is not 1 to %d", r.MaxRounds, MaxRounds)
	}
	if r.Declinable && r.Kind == KindApproval {
		return Errorf(CodeInvalid, "declinable: is for asks only; an approval can be denied")
	}
	if g := time.Duration(r.Grace); g < 0 || g > MaxGrace || g >= time.Duration(r.Timeout) {
		return Errorf(CodeInvalid, "grace: %s is not between 0 and %s, and less than the timeout", g, MaxGrace)
	}
	if b := time.Duration(r.Batch); b < 0 || b > MaxBatchWindow || b >= time.Duration(r.Timeout) {
		return Errorf(CodeInvalid, "batch: %s is not between 0 and %s, and less than the timeout", b, MaxBatchWindow)
	}
	if r.Join && r.Session == "" {
		return Errorf(CodeInvalid, "join: needs the request's session")
	}
	if r.OneAtATime && r.Session == "" {
		return Errorf(CodeInvalid, "one_at_a_time: needs the request's session")
	}
	return nil
}

// normalizeView checks what decides how the interaction is shown.
func (r *Request) normalizeView() error {
	switch r.Presentation {
	case "", PresentTool, PresentQuestionnaire:
	default:
		return Errorf(CodeInvalid, "presentation: unknown %q", r.Presentation).WithHint("use tool or questionnaire")
	}
	if r.CompletedView != nil {
		if err := r.CompletedView.Check(r.Questions); err != nil {
			return err
		}
	}
	if len(r.Initial) == 0 {
		return nil
	}
	for id := range r.Initial {
		if !slices.ContainsFunc(r.Questions, func(q Question) bool { return q.ID == id }) {
			return Errorf(CodeInvalid, "initial: there is no question %q", id)
		}
	}
	if _, problem := (Interaction{Questions: r.Questions}).Split(r.Initial); problem != "" {
		return Errorf(CodeInvalid, "initial: %s", problem)
	}
	return nil
}

func (r *Request) normalizeNotice() error {
	switch {
	case r.Approval != nil || len(r.Questions) > 0:
		return Errorf(CodeInvalid, "kind: a notice asks nothing").WithHint("leave approval and questions out, or send another kind")
	case r.OnTimeout != "" && r.OnTimeout != OnTimeoutExpire:
		return Errorf(CodeInvalid, "on_timeout: a notice waits for nobody")
	case r.Declinable:
		return Errorf(CodeInvalid, "declinable: is for asks only")
	}
	r.MaxRounds = 1
	return nil
}

func (r *Request) normalizeApproval() error {
	if len(r.Questions) > 0 {
		return Errorf(CodeInvalid, "questions: an approval has none").WithHint("send kind ask, or leave the questions out")
	}
	if r.Approval == nil {
		r.Approval = &Approval{}
	}
	a := *r.Approval
	a.Scopes = slices.Clone(a.Scopes)
	if err := CheckText("approval.tool", a.Tool, 200); err != nil {
		return err
	}
	if err := CheckText("approval.key", a.Key, 500); err != nil {
		return err
	}
	if len(a.Input) > MaxInput {
		return Errorf(CodeInvalid, "approval.input: %d bytes are more than %d", len(a.Input), MaxInput)
	}
	if len(a.Input) > 0 {
		var buf bytes.Buffer
		if err := json.Compact(&buf, a.Input); err != nil || !utf8.Valid(a.Input) {
			return Errorf(CodeInvalid, "approval.input: is not valid JSON")
		}
		a.Input = buf.Bytes()
		if err := CheckJSON(a.Input); err != nil {
			e := PublicError(err)
			return Errorf(CodeInvalid, "approval.input: %s", e.Message).WithHint("%s", e.Hint)
		}
	}
	if err := CheckText("approval.where", a.Where, MaxText); err != nil {
		return err
	}
	if err := a.normalizeDecisions(r.Session); err != nil {
		return err
	}
	if len(a.Scopes) == 0 && len(a.Decisions) == 0 {
		a.Scopes = []Scope{ScopeOnce}
		if r.Session != "" {
			a.Scopes = append(a.Scopes, ScopeSession)
		}
	}
	for i, s := range a.Scopes {
		switch {
		case s != ScopeOnce && s != ScopeSession && s != ScopeAlways:
			return Errorf(CodeInvalid, "approval.scopes[%d]: unknown %q", i, s).WithHint("use once, session, always")
		case slices.Contains(a.Scopes[:i], s):
			return Errorf(CodeInvalid, "approval.scopes[%d]: %q is there twice", i, s)
		case s == ScopeSession && r.Session == "":
			return Errorf(CodeInvalid, "approval.scopes[%d]: session needs the request's session", i)
		}
	}
	slices.SortFunc(a.Scopes, func(x, y Scope) int { return ScopeOrder(x) - ScopeOrder(y) })
	r.Approval = &a
	return a.checkWords()
}

func ScopeOrder(s Scope) int { return slices.Index([]Scope{ScopeOnce, ScopeSession, ScopeAlways}, s) }

// CheckText refuses text that is too long, not UTF-8, or carries control
// characters that no chat shows.
func CheckText(field, s string, maxBytes int) error {
	if len(s) > maxBytes {
		return Errorf(CodeInvalid, "%s: %d bytes are more than %d", field, len(s), maxBytes)
	}
	if !utf8.ValidString(s) {
		return Errorf(CodeInvalid, "%s: is not valid UTF-8", field)
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != 0x1b {
			return Errorf(CodeInvalid, "%s: holds the control character %U", field, r)
		}
	}
	return nil
}
