package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code classifies an error. The set is closed. Each entry point maps codes to
// its own protocol with [Code.HTTPStatus] and [Code.ExitCode].
type Code string

// The codes.
const (
	CodeInvalid         Code = "invalid"         // the request is invalid; the message names the field
	CodeUnsupported     Code = "unsupported"     // valid, but no destination can show it
	CodeUnauthenticated Code = "unauthenticated" // missing or invalid credentials
	CodeForbidden       Code = "forbidden"       // authenticated, but not allowed
	CodeNotFound        Code = "not_found"
	CodeConflict        Code = "conflict"     // contradicts the stored state
	CodeRateLimited     Code = "rate_limited" // retry after RetryAfter
	CodeUnavailable     Code = "unavailable"  // a system that nod needs is unreachable; retry
	CodeInternal        Code = "internal"     // a bug in nod
)

// codeTable maps each code to every protocol nod speaks.
var codeTable = map[Code]struct{ http, exit int }{
	CodeInvalid:         {400, 2},
	CodeUnsupported:     {422, 2},
	CodeUnauthenticated: {401, 6},
	CodeForbidden:       {403, 6},
	CodeNotFound:        {404, 4},
	CodeConflict:        {409, 2},
	CodeRateLimited:     {429, 5},
	CodeUnavailable:     {503, 5},
	CodeInternal:        {500, 5},
}

// HTTPStatus returns the HTTP status for the error code.
func (c Code) HTTPStatus() int {
	if e, ok := codeTable[c]; ok {
		return e.http
	}
	return 500
}

// HeaderDaemon is a header in each response of a daemon. Clients treat an error
// without it as an error from a proxy.
const HeaderDaemon = "Nod-Daemon"

// Known reports whether nod defines the code.
func (c Code) Known() bool {
	_, ok := codeTable[c]
	return ok
}

// ExitCode returns the exit code with which the command line reports c.
func (c Code) ExitCode() int {
	if e, ok := codeTable[c]; ok {
		return e.exit
	}
	return 5
}

// Error is an error with a code. Message is safe to show to the caller, Hint
// explains how to fix the problem, and Cause is only for logs.
type Error struct {
	Code       Code          `json:"code"`
	Message    string        `json:"message"`
	Hint       string        `json:"hint,omitempty"`
	Fields     []FieldError  `json:"fields,omitempty"` // set if Message names several problems, or a problem with an answer
	Link       string        `json:"link,omitempty"`   // page where the person continues; it contains a secret
	RetryAfter time.Duration `json:"-"`                // zero if unknown
	Means      string        `json:"-"`                // explanation of Message for people, if Message comes from a platform
	Cause      error         `json:"-"`
}

// Errorf returns an error with a code and a message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error with a code and a message that keeps its cause.
func Wrap(code Code, cause error, format string, args ...any) *Error {
	e := Errorf(code, format, args...)
	e.Cause = cause
	return e
}

// WithHint returns a copy of the error with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Listed joins words for an error or a hint. An example is "once, session".
func Listed[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// NotFound returns the error for an interaction that does not exist, or that
// the caller may not read.
func NotFound(id ID) *Error {
	return Errorf(CodeNotFound, "interaction %s not found", id).WithHint("check the ID; nod list prints the IDs of the requests that you may read")
}

// Error implements error; it includes the cause.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ErrorCode returns the code of err. It returns "" for nil, and CodeInternal
// for an error without a code.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// PublicError returns the part of err that a caller may see.
func PublicError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Code: e.Code, Message: e.Message, Hint: e.Hint, Fields: e.Fields, Link: e.Link, RetryAfter: e.RetryAfter, Means: e.Means}
	}
	return Errorf(CodeInternal, "internal error")
}

// Plain returns the message of an error for people who do not know the errors
// of a platform. The meaning of the error comes first.
func (e *Error) Plain() string {
	if e.Means == "" {
		return e.Message
	}
	return e.Means + ": " + e.Message
}

// Cause returns a reason, for people, why nod could not read a source. Errors
// of other packages can contain addresses, so Cause returns only their kind.
func Cause(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e.Cause != nil:
		if why := Cause(e.Cause); !strings.Contains(e.Message, why) {
			return e.Message + ": " + why
		}
		return e.Message
	case ok:
		return e.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return "cannot be reached"
}

// FieldError is a problem with one field of a message.
type FieldError struct {
	Field   string `json:"field"`   // path in the message that was sent
	Message string `json:"message"` // what is wrong, without the path
}

// Invalid returns CodeInvalid with a problem for each field. Its message lists
// all of the fields.
func Invalid(fields ...FieldError) *Error {
	e := &Error{Code: CodeInvalid, Fields: fields}
	e.Message = messageOf(fields)
	return e
}

func messageOf(fields []FieldError) string {
	parts := make([]string, 0, len(fields))
	for n, f := range fields {
		s := f.Message
		if n < len(fields)-1 {
			s = strings.TrimSuffix(s, ".")
		}
		if f.Field != "" {
			s = f.Field + ": " + s
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// Problems returns the individual problems of the error, one for each field.
// The field of a problem is empty if the message does not start with a path.
func (e *Error) Problems() []FieldError {
	if len(e.Fields) > 0 {
		return e.Fields
	}
	field, message, ok := strings.Cut(e.Message, ": ")
	if !ok || field == "" || strings.Contains(field, " ") {
		return []FieldError{{Message: e.Message}}
	}
	return []FieldError{{field, message}}
}

// Renamed returns the error with each problem changed by rename, which replaces
// field names with those of the sender's message.
func (e *Error) Renamed(rename func(FieldError) FieldError) *Error {
	c := *e
	all := e.Problems()
	fields := make([]FieldError, 0, len(all))
	for _, f := range all {
		fields = append(fields, rename(f))
	}
	c.Message = messageOf(fields)
	if len(e.Fields) > 0 {
		c.Fields = fields
	}
	return &c
}

// within returns the error with a path in front of each field.
func within(at string, err error) error {
	return PublicError(err).Renamed(func(f FieldError) FieldError {
		f.Field = at + "." + f.Field
		return f
	})
}

// Problems collects errors, so that a sender gets all of them at once.
type Problems []*Error

// Add adds an error unless it is nil.
func (p *Problems) Add(err error) {
	if err != nil {
		*p = append(*p, PublicError(err))
	}
}

// Err returns nil, the only error, or one error that names all fields. The hint
// is the first hint of the errors.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	if len(p) == 1 {
		return p[0]
	}
	var fields []FieldError
	hint := ""
	for _, e := range p {
		fields = append(fields, e.Problems()...)
		if hint == "" {
			hint = e.Hint
		}
	}
	all := Invalid(fields...)
	all.Code, all.Hint = p[0].Code, hint
	return all
}

// Usable returns an error if an administrator must act before the platform can
// be used. Cards wait until then, because the platform keeps checking.
func Usable(p Platform) error {
	if h, ok := p.(HealthReporter); ok {
		if s := h.Health(); s.State == HealthDown {
			return Errorf(CodeUnavailable, "%s", downReason(p.Name(), s))
		}
	}
	return nil
}

// downReason returns the reason that a platform accepts no card. The reason in
// its health may already contain the name of the platform.
func downReason(platform string, h Health) string {
	if strings.HasPrefix(h.Reason, platform+": ") {
		return h.Reason
	}
	return platform + ": " + h.Reason
}
