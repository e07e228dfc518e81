package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Docs is a kind of documents with values of one type, as JSON.
type Docs[T any] struct {
	kind   string
	format int
}

var (
	kindsMu sync.Mutex
	kinds   []string
)

// NewDocs declares a kind of documents. Raise the format with each change after
// which an older daemon could misread a value. It panics for a kind that is
// declared twice.
func NewDocs[T any](kind string, format int) Docs[T] {
	kindsMu.Lock()
	defer kindsMu.Unlock()
	if slices.Contains(kinds, kind) {
		panic("broker: kind " + kind + " is declared twice")
	}
	kinds = append(kinds, kind)
	return Docs[T]{kind, format}
}

// Kinds returns the names of all kinds, sorted.
func Kinds() []string {
	kindsMu.Lock()
	defer kindsMu.Unlock()
	return slices.Sorted(slices.Values(kinds))
}

// Key returns the key of a document.
func (ds Docs[T]) Key(id string) Key { return Key{ds.kind, id} }

// NewerError is the error for a document of a format that this daemon cannot read.
type NewerError struct{ Doc Doc }

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("the document %s has format %d, which this version of nod cannot read", e.Doc.Key, e.Doc.Format)
}

// ForgedError is the error for a document that does not verify.
type ForgedError struct{ Doc Doc }

// Error implements error.
func (e *ForgedError) Error() string {
	return fmt.Sprintf("the document %s does not verify: %s", e.Doc.Key, e.Doc.Problem)
}

// Encode returns the document that replaces d with a value. It keeps the
// lifetime of d.
func (ds Docs[T]) Encode(d Doc, v *T) (Doc, error) {
	raw, err := marshal(v)
	d.Format, d.Value = ds.format, raw
	return d, err
}

// marshal returns v as JSON without escapes for HTML, because stored values are
// compared with signed ones.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Decode returns the value of a document. It returns the zero value if the
// document does not exist. It returns a *[NewerError] or a *[ForgedError].
func (ds Docs[T]) Decode(d Doc) (v T, err error) {
	switch {
	case !d.Exists():
		return v, nil
	case d.Problem != "":
		return v, &ForgedError{d}
	case d.Format > ds.format:
		return v, &NewerError{d}
	}
	err = json.Unmarshal(d.Value, &v)
	return v, err
}

// Get returns a document and its value. If the document does not exist, the
// value is the zero value.
func (ds Docs[T]) Get(ctx context.Context, s Store, id string) (v T, d Doc, err error) {
	all, err := s.Get(ctx, ds.Key(id))
	if err != nil {
		return v, d, err
	}
	v, err = ds.Decode(all[0])
	return v, all[0], err
}

// List returns the values of the existing documents among the given keys. It
// passes the errors of documents that do not verify, or have a newer format, to
// refused.
func (ds Docs[T]) List(ctx context.Context, s Store, ids []string, refused func(error)) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys := make([]Key, len(ids))
	for n, id := range ids {
		keys[n] = ds.Key(id)
	}
	docs, err := s.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(docs))
	for _, d := range docs {
		if !d.Exists() {
			continue
		}
		v, err := ds.Decode(d)
		switch {
		case errors.As(err, new(*ForgedError)), errors.As(err, new(*NewerError)):
			refused(err)
		case err != nil:
			return nil, err
		default:
			out = append(out, v)
		}
	}
	return out, nil
}

// ErrUnchanged ends an update without a change and without an error.
var ErrUnchanged = errors.New("nothing to change")

// Update changes a document with a rule. It may call the rule again, because
// another process may change the document first. The rule gets the value and
// the document, and changes both. It returns further parts of the change. The
// rule ends the update with an error, such as [ErrUnchanged]. A document that
// does not verify is treated as missing, and is replaced.
func (ds Docs[T]) Update(ctx context.Context, s Store, id string, rule func(v *T, d *Doc) (Change, error)) (Done, error) {
	var done Done
	err := Retry(ctx, func() error {
		v, d, err := ds.Get(ctx, s, id)
		read := d.Version
		var forged *ForgedError
		if errors.As(err, &forged) {
			d, err = Doc{Key: d.Key}, nil
		}
		if err != nil {
			return err
		}
		c, err := rule(&v, &d)
		if err != nil {
			return err
		}
		next, err := ds.Encode(d, &v)
		if err != nil {
			return err
		}
		next.Version = read
		c.Put = append([]Doc{next}, c.Put...)
		done, err = s.Do(ctx, c)
		return err
	})
	if errors.Is(err, ErrUnchanged) {
		err = nil
	}
	return done, err
}

// A change is retried for this time, and at least as often as this, because a store that
// takes long would otherwise allow one or two attempts.
const (
	retryFor   = time.Second
	retryLeast = 8
)

// Retry calls try again, after a random delay, while it returns a *[Stale] or
// an [Untimely]. After a second and at least eight calls, or when ctx ends, it returns
// the error.
func Retry(ctx context.Context, try func() error) error {
	end := time.Now().Add(retryFor)
	for n := 0; ; n++ {
		err := try()
		if err == nil || !errors.As(err, new(*Stale)) && !errors.As(err, new(Untimely)) || n >= retryLeast-1 && time.Now().After(end) {
			return err
		}
		if n == 0 {
			continue
		}
		t := time.NewTimer(time.Duration(rand.IntN(n*int(time.Millisecond)) + 1))
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
}

// Is reports whether a key belongs to this kind.
func (ds Docs[T]) Is(k Key) bool { return k.Kind == ds.kind }
