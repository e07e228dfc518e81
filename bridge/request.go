package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
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
)

// Request is what an agent sends to open an interaction.
type Request struct {
	Kind      Kind       `json:"kind,omitempty"` // empty: approval if Approval is set, else ask
	Prompt    string     `json:"prompt"`
	Questions []Question `json:"questions,omitempty"`
	Approval  *Approval  `json:"approval,omitempty"`

	Session  string `json:"session,omitempty"`
	ToolCall string `json:"tool_call,omitempty"`
	Turn     string `json:"turn,omitempty"`

	Route     string    `json:"route,omitempty"`   // empty: the route named default
	Timeout   Duration  `json:"timeout,omitempty"` // 0: DefaultTimeout
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
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
	}{{"prompt", c.Prompt, MaxPrompt}, {"session", c.Session, 200}, {"tool_call", c.ToolCall, 200}, {"turn", c.Turn, 200}, {"route", c.Route, 100}} {
		if err := checkText(f.name, f.text, f.max); err != nil {
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
	default:
		err = Errorf(CodeInvalid, "kind: unknown %q", c.Kind).WithHint("use ask or approval")
	}
	if err == nil {
		err = c.normalizeTimeout()
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
	case OnTimeoutExpire:
	case OnTimeoutDeny:
		if r.Kind != KindApproval {
			return Errorf(CodeInvalid, "on_timeout: deny is for approvals only")
		}
	case OnTimeoutDefault:
		if r.Kind != KindAsk {
			return Errorf(CodeInvalid, "on_timeout: default is for asks only")
		}
		for i, q := range r.Questions {
			if q.Default == nil && q.IsRequired() {
				return Errorf(CodeInvalid, "questions[%d].default: is needed with on_timeout default", i)
			}
		}
	default:
		return Errorf(CodeInvalid, "on_timeout: unknown %q", r.OnTimeout).WithHint("use expire, deny or default")
	}
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
	if err := checkText("approval.tool", a.Tool, 200); err != nil {
		return err
	}
	if err := checkText("approval.key", a.Key, 500); err != nil {
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
	}
	if len(a.Scopes) == 0 {
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
	slices.SortFunc(a.Scopes, func(x, y Scope) int { return scopeOrder(x) - scopeOrder(y) })
	r.Approval = &a
	return nil
}

func scopeOrder(s Scope) int { return slices.Index([]Scope{ScopeOnce, ScopeSession, ScopeAlways}, s) }

func (r *Request) normalizeAsk() error {
	if r.Approval != nil {
		return Errorf(CodeInvalid, "approval: not with kind ask")
	}
	if len(r.Questions) == 0 {
		r.Questions = []Question{{Widget: WidgetConfirm}}
	}
	if len(r.Questions) > MaxQuestions {
		return Errorf(CodeInvalid, "questions: %d are more than %d", len(r.Questions), MaxQuestions)
	}
	seen := map[string]bool{}
	for i := range r.Questions {
		at := "questions[" + strconv.Itoa(i) + "]"
		q := &r.Questions[i]
		if q.ID == "" {
			q.ID = "q" + strconv.Itoa(i+1)
		}
		if err := q.normalize(at); err != nil {
			return err
		}
		if seen[q.ID] {
			return Errorf(CodeInvalid, "%s.id: %q is there twice", at, q.ID)
		}
		seen[q.ID] = true
		if q.Text == "" && len(r.Questions) > 1 && q.Header == "" {
			return Errorf(CodeInvalid, "%s.text: is empty", at).WithHint("with several questions each needs its text or header")
		}
	}
	return nil
}

var questionID = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

func (q *Question) normalize(at string) error {
	if !questionID.MatchString(q.ID) {
		return Errorf(CodeInvalid, "%s.id: want 1 to 64 of A-Z a-z 0-9 _ . : -", at)
	}
	if utf8.RuneCountInString(q.Header) > MaxHeader {
		return Errorf(CodeInvalid, "%s.header: is longer than %d characters", at, MaxHeader)
	}
	for _, f := range []struct{ name, text string }{{"header", q.Header}, {"text", q.Text}, {"placeholder", q.Placeholder}} {
		if err := checkText(at+"."+f.name, f.text, MaxText); err != nil {
			return err
		}
	}
	for _, s := range []*string{&q.Header, &q.Text, &q.Placeholder} {
		if strings.TrimSpace(*s) == "" {
			*s = ""
		}
	}
	q.Options = slices.Clone(q.Options)
	switch q.Widget {
	case WidgetConfirm:
		if len(q.Options) == 0 {
			q.Options = []Option{{Value: "yes", Label: "Yes"}, {Value: "no", Label: "No"}}
		}
		if len(q.Options) != 2 {
			return Errorf(CodeInvalid, "%s.options: confirm has two", at)
		}
	case WidgetButtons, WidgetSelect, WidgetRadio, WidgetCheckbox:
		if len(q.Options) == 0 {
			return Errorf(CodeInvalid, "%s.options: %s needs some", at, q.Widget)
		}
	case WidgetText, WidgetTextarea:
		if len(q.Options) > 0 || q.AllowOther {
			return Errorf(CodeInvalid, "%s: %s has no options and no allow_other", at, q.Widget)
		}
	case "":
		return Errorf(CodeInvalid, "%s.widget: is empty", at).WithHint("use one of %s", knownWidgets)
	default:
		return Errorf(CodeInvalid, "%s.widget: unknown %q", at, q.Widget).WithHint("use one of %s", knownWidgets)
	}
	if err := q.checkOptions(at); err != nil {
		return err
	}
	if err := q.checkBounds(at); err != nil {
		return err
	}
	if q.Default != nil {
		if _, problem := q.Check(*q.Default, ""); problem != "" {
			return Errorf(CodeInvalid, "%s.default: %s", at, problem)
		}
	}
	return nil
}

const knownWidgets = "buttons, confirm, select, radio, checkbox, text, textarea"

func (q *Question) checkOptions(at string) error {
	if len(q.Options) > MaxOptions {
		return Errorf(CodeInvalid, "%s.options: %d are more than %d", at, len(q.Options), MaxOptions)
	}
	seen := map[string]bool{}
	for i, o := range q.Options {
		at := at + ".options[" + strconv.Itoa(i) + "]"
		if err := checkText(at+".value", o.Value, MaxValue); err != nil {
			return err
		}
		if err := checkText(at+".description", o.Description, MaxText); err != nil {
			return err
		}
		if err := checkText(at+".label", o.Label, 4*MaxLabel); err != nil {
			return err
		}
		switch {
		case o.Value == "":
			return Errorf(CodeInvalid, "%s.value: is empty", at)
		case strings.TrimSpace(o.Text()) == "":
			return Errorf(CodeInvalid, "%s.label: is blank", at)
		case utf8.RuneCountInString(o.Text()) > MaxLabel:
			return Errorf(CodeInvalid, "%s.label: is longer than %d characters", at, MaxLabel).WithHint("put the rest into description")
		case seen[o.Value]:
			return Errorf(CodeInvalid, "%s.value: %q is there twice", at, o.Value)
		}
		seen[o.Value] = true
	}
	return nil
}

func (q *Question) checkBounds(at string) error {
	if q.MinLength < 0 || q.MaxLength < 0 || q.MinLength > DefaultMaxLength || q.MaxLength > DefaultMaxLength {
		return Errorf(CodeInvalid, "%s: min_length and max_length are 0 to %d", at, DefaultMaxLength)
	}
	if q.MaxLength == 0 {
		q.MaxLength = DefaultMaxLength
	}
	if q.MinLength > q.MaxLength {
		return Errorf(CodeInvalid, "%s.min_length: is more than max_length", at)
	}
	if len(q.Pattern) > 1000 {
		return Errorf(CodeInvalid, "%s.pattern: is longer than 1000 bytes", at)
	}
	if _, err := q.pattern(); err != nil {
		return Errorf(CodeInvalid, "%s.pattern: is not a regular expression of RE2", at)
	}
	return nil
}

func (q Question) pattern() (*regexp.Regexp, error) {
	return regexp.Compile(`\A(?:` + q.Pattern + `)\z`)
}

// checkText refuses text that is too long, not UTF-8, or carries control
// characters that no chat shows.
func checkText(field, s string, maxBytes int) error {
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

// digest returns the hex SHA-256 over the canonical JSON of what is shown.
func (i Interaction) digest() (string, error) {
	shown := struct {
		Kind      Kind       `json:"kind"`
		Prompt    string     `json:"prompt"`
		Questions []Question `json:"questions,omitempty"`
		Approval  *Approval  `json:"approval,omitempty"`
	}{i.Kind, i.Prompt, i.Questions, i.Approval}
	raw, err := json.Marshal(shown)
	if err != nil {
		return "", err
	}
	// Through a generic tree: keys sorted, numbers as they were written.
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return "", err
	}
	canonical, err := json.Marshal(tree)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}
