package render

import (
	lru "github.com/hashicorp/golang-lru/v2"
)

// Limits of a memo. Longer texts, and results with more parts, are made again
// each time, so that no agent can fill the memory.
const (
	memoTexts  = 512
	memoText   = 8 << 10 // bytes
	memoWeight = 256     // parts of a result
)

// A memo keeps what was parsed from the most recent texts, because one text is
// read for the headline, the body and the preview of each platform. It is safe
// for concurrent use. Its results are shared: nobody may change them.
type memo[T any] struct {
	parse func(string) T
	small func(T) bool // reports whether a result may be kept
	kept  *lru.Cache[string, T]
}

func newMemo[T any](parse func(string) T, small func(T) bool) memo[T] {
	kept, err := lru.New[string, T](memoTexts)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return memo[T]{parse: parse, small: small, kept: kept}
}

func (m memo[T]) of(text string) T {
	if len(text) > memoText {
		return m.parse(text)
	}
	if v, ok := m.kept.Get(text); ok {
		return v
	}
	v := m.parse(text)
	if m.small(v) {
		m.kept.Add(text, v)
	}
	return v
}
