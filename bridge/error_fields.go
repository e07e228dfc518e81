package bridge

import "strings"

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
