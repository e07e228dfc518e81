package relay

import (
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// OldestCodex is the oldest version of Codex that a Companion works with.
const OldestCodex = "0.166.0"

// versionParts finds the three numbers of a version.
var versionParts = lazyregexp.New(`(\d{1,9})\.(\d{1,9})\.(\d{1,9})`)

// TooOldCodex reports whether a text, such as the output of codex --version,
// contains a version before OldestCodex. It returns false if the version is
// unknown.
func TooOldCodex(text string) bool {
	is, oldest := numbers(text), numbers(OldestCodex)
	return is != nil && slices.Compare(is, oldest) < 0
}

// numbers returns the three numbers of the first version in a text, or nil.
func numbers(text string) []int {
	m := versionParts.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	out := make([]int, len(m)-1)
	for n := range out {
		out[n], _ = strconv.Atoi(m[n+1]) // at most nine digits
	}
	return out
}
