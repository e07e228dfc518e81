package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
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

// Request is an ask with how it is sent.
type Request struct {
	Ask
	// Awaited means that who opens it waits for it next; see Opening.Awaited.
	Awaited bool `json:"-"`
}

// Normalize fills what may be left out and refuses what is wrong, naming the
// field. It changes r only if it returns nil.
func (r *Ask) Normalize() error {
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

func (r *Ask) normalizeTimeout() error {
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
		return r.checkDefaults()
	default:
		return Errorf(CodeInvalid, "on_timeout: unknown %q", r.OnTimeout).WithHint("use expire, deny, default, escalate or pending")
	}
	return nil
}

// checkDefaults checks that the defaults can stand for an answer.
func (r *Ask) checkDefaults() error {
	fields := fieldsOf(r.Questions)
	_, problems := (Interaction{Ask: Ask{Questions: r.Questions}}).Respond(nil)
	for n, f := range fields {
		if problems[n] != "" {
			return Errorf(CodeInvalid, "questions[%d].default: is needed with on_timeout default", f.Of)
		}
		if v, _ := (*Draft)(nil).Value(f); r.Questions[f.Of].Widget == WidgetPlanReview && v.Text == PlanApprove {
			return Errorf(CodeInvalid, "questions[%d].default: silence cannot approve a plan", f.Of).WithHint("use another default, or on_timeout: expire")
		}
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
func (r Ask) Batches() bool {
	return r.Batch > 0 && r.Approval != nil && r.Session != "" && r.Approval.Confirm == "" && r.OnTimeout != OnTimeoutEscalate &&
		len(r.Prompt)+len(r.Approval.Input) <= MaxBatchItem
}

// normalizeLife checks what decides how the interaction lives.
func (r *Ask) normalizeLife() error {
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
	if err := r.checkDelays(); err != nil {
		return err
	}
	if r.Join && r.Session == "" {
		return Errorf(CodeInvalid, "join: needs the request's session")
	}
	if r.OneAtATime && r.Session == "" {
		return Errorf(CodeInvalid, "one_at_a_time: needs the request's session")
	}
	return nil
}

// checkDelays checks what holds the cards back.
func (r *Ask) checkDelays() error {
	if g := time.Duration(r.Grace); g < 0 || g > MaxGrace || g >= time.Duration(r.Timeout) {
		return Errorf(CodeInvalid, "grace: %s is not between 0 and %s, and less than the timeout", g, MaxGrace)
	}
	if b := time.Duration(r.Batch); b < 0 || b > MaxBatchWindow || b >= time.Duration(r.Timeout) {
		return Errorf(CodeInvalid, "batch: %s is not between 0 and %s, and less than the timeout", b, MaxBatchWindow)
	}
	return nil
}

// normalizeView checks what decides how the interaction is shown.
func (r *Ask) normalizeView() error {
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
	if _, problem := (Interaction{Ask: Ask{Questions: r.Questions}}).Split(r.Initial); problem != "" {
		return Errorf(CodeInvalid, "initial: %s", problem)
	}
	return nil
}

func (r *Ask) normalizeNotice() error {
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

func (r *Ask) normalizeApproval() error {
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
	if err := a.normalizeInput(); err != nil {
		return err
	}
	if err := CheckText("approval.where", a.Where, MaxText); err != nil {
		return err
	}
	if err := a.normalizeDecisions(r.Session); err != nil {
		return err
	}
	if err := a.normalizeScopes(r.Session); err != nil {
		return err
	}
	r.Approval = &a
	return a.checkWords()
}

func (a *Approval) normalizeInput() error {
	if len(a.Input) > MaxInput {
		return Errorf(CodeInvalid, "approval.input: %d bytes are more than %d", len(a.Input), MaxInput)
	}
	if len(a.Input) == 0 {
		return nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, a.Input); err != nil || !utf8.Valid(a.Input) {
		return Errorf(CodeInvalid, "approval.input: is not valid JSON")
	}
	a.Input = buf.Bytes()
	if err := CheckJSON(a.Input); err != nil {
		e := PublicError(err)
		return Errorf(CodeInvalid, "approval.input: %s", e.Message).WithHint("%s", e.Hint)
	}
	return nil
}

func (a *Approval) normalizeScopes(session string) error {
	if len(a.Scopes) == 0 && len(a.Decisions) == 0 {
		a.Scopes = []Scope{ScopeOnce}
		if session != "" {
			a.Scopes = append(a.Scopes, ScopeSession)
		}
	}
	for i, s := range a.Scopes {
		switch {
		case s != ScopeOnce && s != ScopeSession && s != ScopeAlways:
			return Errorf(CodeInvalid, "approval.scopes[%d]: unknown %q", i, s).WithHint("use once, session, always")
		case slices.Contains(a.Scopes[:i], s):
			return Errorf(CodeInvalid, "approval.scopes[%d]: %q is there twice", i, s)
		case s == ScopeSession && session == "":
			return Errorf(CodeInvalid, "approval.scopes[%d]: session needs the request's session", i)
		}
	}
	slices.SortFunc(a.Scopes, func(x, y Scope) int { return ScopeOrder(x) - ScopeOrder(y) })
	return nil
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
