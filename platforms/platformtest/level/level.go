// Package level tells the two levels of tests apart: the short level, which a
// contributor runs before a commit, and the full level, which make ci runs.
package level

import "testing"

// CI skips a test unless make ci runs it.
func CI(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("make ci runs this")
	}
}

// Often returns the number of repetitions in a test: fewer in the short level.
func Often(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}
