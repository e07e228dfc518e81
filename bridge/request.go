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

// General limits of requests. Platforms may have lower limits, which their
// Check method enforces.
const (
	MaxDestinations  = 32        // an index fits in one byte of a token
	MaxQuestions     = 20        // for questions, not for surveys
	MaxOptions       = 500       // per question
	MaxPrompt        = 64 << 10  // bytes
	MaxInput         = 256 << 10 // bytes of Approval.Input
	MaxHeader        = 12        // characters, as in the formats of agents
	MaxLabel         = 300       // characters of an option's label
	MaxValue         = 1000      // bytes of an option's value
	MaxMetadata      = 2000      // bytes of a value of Metadata
	maxMetadataName  = 64        // bytes
	maxMetadataNames = 16        // values of one request
	MaxText          = 3000      // characters of a question, a description, a placeholder
	DefaultMaxLength = 3000      // characters of a typed answer; every platform's input supports it
	DefaultTimeout   = 5 * time.Minute
	MinTimeout       = time.Second
	MaxTimeout       = 30 * 24 * time.Hour
	DefaultHold      = 7 * 24 * time.Hour
	DefaultRounds    = 5
	MaxRounds        = 20
	MaxGrace         = 10 * time.Minute
)

// Request is an ask with its transport options.
type Request struct {
	Ask
	// CallID identifies the call that sends the request.
	CallID CallID `json:"-"`
	// Awaited means that the caller waits for the response next; see
	// Opening.Awaited.
	Awaited bool `json:"-"`
	// OnlyRules means that the agent itself decides afterward whether it needs
	// a person, or lets a model decide. nod asks people only if a policy rule
	// asks them. Otherwise, the request is closed with ReasonLeft.
	OnlyRules bool `json:"-"`
	// Now means that the caller asks in another way if every platform is down
	// when the request opens. The request is then undeliverable, instead of
	// waiting for a platform.
	Now bool `json:"-"`
	// Contested is copied to the interaction; see [Interaction.Contested].
	Contested bool `json:"-"`
	// SameTool limits OneAtATime to requests with the same ToolName.
	SameTool bool `json:"-"`
	// Gate and Doubts belong to the operation; see [Act]. A request with a gate
	// is not stored if no rule and no gate asks about it, because agents send
	// one for each call of a tool.
	Gate   string   `json:"-"`
	Doubts []string `json:"-"`
}

// Normalize checks the ask and fills in its defaults. It returns CodeInvalid
// and leaves r unchanged if a field is not valid.
func (r *Ask) Normalize() error {
	c := *r
	c.Questions = slices.Clone(r.Questions)
	if strings.TrimSpace(c.Prompt) == "" {
		return Errorf(CodeInvalid, "prompt: required").WithHint("send the question or the purpose of the request")
	}
	if err := CheckTexts(func(yield func(Text) bool) { c.ownTexts(yield) }); err != nil {
		return err
	}
	if err := c.checkMetadata(); err != nil {
		return err
	}
	if c.Session == "." || c.Session == ".." {
		return Errorf(CodeInvalid, "session: %q is not allowed, because a URL cannot contain it", c.Session).WithHint("use another name")
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
		err = Errorf(CodeInvalid, "kind: unknown kind %q", c.Kind).WithHint("use ask, approval or notice")
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
		return Errorf(CodeInvalid, "timeout: %s is out of range (%s to %s)", d, MinTimeout, MaxTimeout)
	}
	if r.OnTimeout == "" {
		r.OnTimeout = OnTimeoutExpire
	}
	switch r.OnTimeout {
	case OnTimeoutExpire, OnTimeoutEscalate:
	case OnTimeoutPending:
		if r.Session == "" {
			return Errorf(CodeInvalid, "on_timeout: pending requires a session").WithHint("set session, which receives the late answer")
		}
	case OnTimeoutDeny:
		if r.Kind != KindApproval {
			return Errorf(CodeInvalid, "on_timeout: deny is only allowed for approvals")
		}
	case OnTimeoutDefault:
		if r.Kind != KindAsk {
			return Errorf(CodeInvalid, "on_timeout: default is only allowed for questions")
		}
		return r.checkDefaults()
	default:
		return Errorf(CodeInvalid, "on_timeout: unknown value %q", r.OnTimeout).WithHint("use expire, deny, default, escalate or pending")
	}
	return nil
}

// checkDefaults checks that the defaults form a valid answer.
func (r *Ask) checkDefaults() error {
	fields := fieldsOf(r.Questions)
	_, problems := (Interaction{Ask: Ask{Questions: r.Questions}}).Respond(nil)
	for n, f := range fields {
		if problems[n] != "" {
			return Errorf(CodeInvalid, "questions[%d].default: required with on_timeout default", f.Of)
		}
		if v, _ := (*Draft)(nil).Value(f); r.Questions[f.Of].Widget == WidgetPlanReview && v.Text == PlanApprove {
			const why = "questions[%d].default: %q is not allowed with on_timeout default, because a timeout must not approve a plan"
			return Errorf(CodeInvalid, why, f.Of, PlanApprove).
				WithHint("use another default or on_timeout")
		}
	}
	return nil
}

// CheckHold returns CodeInvalid if hold is out of range.
func CheckHold(hold Duration) error {
	if d := time.Duration(hold); d < MinTimeout || d > MaxTimeout {
		return Errorf(CodeInvalid, "hold: %s is out of range (%s to %s)", d, MinTimeout, MaxTimeout)
	}
	return nil
}

// normalizeLife checks the fields about the lifetime of the interaction.
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
		return Errorf(CodeInvalid, "max_rounds: %d is out of range (1 to %d)", r.MaxRounds, MaxRounds)
	}
	if r.Declinable && r.Kind == KindApproval {
		return Errorf(CodeInvalid, "declinable: only allowed for questions; an approval can be denied")
	}
	if g := time.Duration(r.Grace); g < 0 || g > MaxGrace || g >= time.Duration(r.Timeout) {
		return Errorf(CodeInvalid, "grace: %s is out of range (0s to %s, and less than timeout)", g, MaxGrace)
	}
	if r.Join && r.Session == "" {
		return Errorf(CodeInvalid, "join: requires a session").WithHint("set session")
	}
	if r.OneAtATime && r.Session == "" {
		return Errorf(CodeInvalid, "one_at_a_time: requires a session").WithHint("set session")
	}
	return nil
}

// normalizeView checks the fields about the appearance of the interaction.
func (r *Ask) normalizeView() error {
	switch r.Presentation {
	case "", PresentTool, PresentQuestionnaire:
	default:
		return Errorf(CodeInvalid, "presentation: unknown value %q", r.Presentation).WithHint("use tool or questionnaire")
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
			return Errorf(CodeInvalid, "initial: unknown question %q", id)
		}
	}
	_, err := (Interaction{Ask: Ask{Questions: r.Questions}}).Split("initial", r.Initial)
	return err
}

func (r *Ask) normalizeNotice() error {
	switch {
	case r.Approval != nil || len(r.Questions) > 0:
		return Errorf(CodeInvalid, "kind: a notice cannot have questions or an approval").
			WithHint("remove them, or use kind ask or approval")
	case r.OnTimeout != "" && r.OnTimeout != OnTimeoutExpire:
		return Errorf(CodeInvalid, "on_timeout: %q is not allowed for a notice", r.OnTimeout)
	case r.Declinable:
		return Errorf(CodeInvalid, "declinable: only allowed for questions")
	}
	r.MaxRounds = 1
	return nil
}

func (r *Ask) normalizeApproval() error {
	if len(r.Questions) > 0 {
		return Errorf(CodeInvalid, "questions: not allowed for an approval").WithHint("remove the questions, or use kind ask")
	}
	if r.Approval == nil {
		r.Approval = &Approval{}
	}
	a := *r.Approval
	a.Scopes = slices.Clone(a.Scopes)
	if err := a.normalizeInput(); err != nil {
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
		return Errorf(CodeInvalid, "approval.input: %d bytes are too many (at most %d)", len(a.Input), MaxInput)
	}
	if len(a.Input) == 0 {
		return nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, a.Input); err != nil || !utf8.Valid(a.Input) {
		return Errorf(CodeInvalid, "approval.input: invalid JSON")
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
		case ScopeOrder(s) < 0 || s.Kind() != s && !a.AgentRemembers:
			return Errorf(CodeInvalid, "approval.scopes[%d]: unknown scope %q", i, s).WithHint("use once, session or always")
		case slices.Contains(a.Scopes[:i], s):
			return Errorf(CodeInvalid, "approval.scopes[%d]: duplicate scope %q", i, s)
		case s.Kind() == ScopeSession && session == "" && !a.AgentRemembers:
			return Errorf(CodeInvalid, "approval.scopes[%d]: the scope session requires a session", i).WithHint("set session")
		}
	}
	slices.SortFunc(a.Scopes, func(x, y Scope) int { return orderDecisions(Decision(x), Decision(y)) })
	return nil
}

// ScopeOrder returns the rank of a scope, from narrow to wide. It returns -1 for
// an unknown scope.
func ScopeOrder(s Scope) int {
	return slices.Index([]Scope{ScopeOnce, ScopeSession, ScopeAlways}, s.Kind())
}

// CheckText returns CodeInvalid for text that is too long, is not valid UTF-8,
// or contains control characters that no chat platform shows.
func CheckText(field, s string, maxBytes int) error {
	if len(s) > maxBytes {
		return Errorf(CodeInvalid, "%s: %d bytes are too many (at most %d)", field, len(s), maxBytes)
	}
	if !utf8.ValidString(s) {
		return Errorf(CodeInvalid, "%s: invalid UTF-8", field)
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != 0x1b {
			return Errorf(CodeInvalid, "%s: control character %U is not allowed", field, r)
		}
	}
	return nil
}

// checkMetadata returns CodeInvalid for too many values, and for names that are too
// long.
func (r *Ask) checkMetadata() error {
	if len(r.Metadata) > maxMetadataNames {
		return Errorf(CodeInvalid, "metadata: %d values are too many (at most %d)", len(r.Metadata), maxMetadataNames)
	}
	for name := range r.Metadata {
		if err := CheckText("metadata", name, maxMetadataName); err != nil || name == "" {
			return Errorf(CodeInvalid, "metadata: a name must have 1 to %d bytes", maxMetadataName)
		}
	}
	return nil
}
