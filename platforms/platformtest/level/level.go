// Package level tells the two levels of tests apart: the short one, which a
// contributor runs before a commit, and the whole one, which make ci runs.
package level

import "testing"

// CI skips a test that only make ci runs.
func CI(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("make ci runs this")
	}
}

// Often returns how often a test repeats something: less often in the short level.
func Often(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}
