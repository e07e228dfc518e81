package dialect

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// Names translates the field names in a problem with a request or an answer to
// the field names of a message.
type Names func(bridge.FieldError) bridge.FieldError

// Named returns err with its field names translated by names. It returns err
// unchanged if names is nil or the error has no code.
func Named(err error, names Names) error {
	e, ok := errors.AsType[*bridge.Error](err)
	if !ok || names == nil {
		return err
	}
	return e.Renamed(names)
}

// Renames returns Names from pairs of a regular expression and its replacement.
// The first expression that matches a field replaces it. Words replaces words
// in the text of the problem and can be nil.
func Renames(words *strings.Replacer, pairs ...string) Names {
	compiled := sync.OnceValue(func() (from []*regexp.Regexp) {
		for n := 0; n < len(pairs); n += 2 {
			from = append(from, regexp.MustCompile(pairs[n]))
		}
		return from
	})
	return func(f bridge.FieldError) bridge.FieldError {
		if words != nil {
			f.Message = words.Replace(f.Message)
		}
		for n, re := range compiled() {
			if re.MatchString(f.Field) {
				f.Field = re.ReplaceAllString(f.Field, pairs[2*n+1])
				return f
			}
		}
		return f
	}
}

// Refuse returns nil if a message has no problems. Otherwise, it returns them
// together with the problems of the message's request, so that the sender sees
// all of them at once.
func Refuse(wrong bridge.Problems, r bridge.Request, names Names) error {
	if len(wrong) > 0 {
		wrong.Add(Named(r.Normalize(), names))
	}
	return wrong.Err()
}

// Named returns the translation with names, which translates the field names in
// errors.
func (t Translation) Named(names Names) Translation {
	for n := range t.Exchanges {
		t.Exchanges[n].Names = names
	}
	return t
}
