package codex

import "github.com/nodbridge/nod/bridge/lazyregexp"

var (
	firstTable = lazyregexp.New(`(?m)^\s*\[`)
	// reviewer matches the setting that lets a model review operations that
	// need approval, for all sessions.
	reviewer = lazyregexp.New(`(?m)^\s*approvals_reviewer\s*=\s*["'](\w+)["']`)
)

// Reviewed reports whether a config lets a model, instead of a person, review
// operations that need approval.
func Reviewed(config []byte) bool {
	m := reviewer.FindSubmatch(BeforeTables(config))
	return m != nil && string(m[1]) != Person
}

// BeforeTables returns the part of a config before its first table, which holds the
// settings for all sessions.
func BeforeTables(config []byte) []byte {
	if table := firstTable.FindIndex(config); table != nil {
		return config[:table[0]]
	}
	return config
}
