package redis

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// said is an answer of Redis.
type said string

func (s said) Error() string { return string(s) }

func (said) RedisError() {}

// TestWordsOfVersions checks that errors say what Redis refuses, and what to do, in the words of
// each version.
func TestWordsOfVersions(t *testing.T) {
	t.Parallel()
	const line = " script: 20e9e1bb012f3d651a69f1409edcb93063fb3730, on @user_script:1."
	for answer, want := range map[string]struct{ says, hint string }{
		// Redis 6.2.16
		"@user_script: 1: The user executing the script can't run this command or subcommand (XADD)":                                                     {"(XADD)", "ACL"},
		"ERR Error running script (call to f_20e9): @user_script:1: @user_script: 1: The user executing the script can't run this command or subcommand": {"run this command", "ACL"},
		"ERR Error running script (call to f_20e9): @user_script:1: @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.":           {"OOM", "maxmemory"},
		"ERR Error running script (call to f_20e9): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.":             {"READONLY", "master"},
		// Redis 7.0
		"ERR The user executing the script can't run this command or subcommand" + line: {"run this command", "ACL"},
		// Redis 8 and Valkey 8.0.1
		"ERR ACL failure in script: User nod has no permissions to run the 'xadd' command (XADD)": {"'xadd' command (XADD)", "ACL"},
		"ERR ACL failure in script: User nod has no permissions to run the 'xadd' command" + line: {"'xadd' command", "ACL"},
		"OOM command not allowed when used memory > 'maxmemory'." + line:                          {"OOM command not allowed when used memory > 'maxmemory'", "maxmemory"},
		"READONLY You can't write against a read only replica." + line:                            {"READONLY You can't write against a read only replica", "master"},
	} {
		got := bridge.PublicError(unavailable(t.Context(), said(answer)))
		if got.Code != bridge.CodeUnavailable || !strings.HasPrefix(got.Message, "redis refuses: ") || !strings.Contains(got.Message, want.says) || strings.Contains(got.Message, "20e9e1bb") || !strings.Contains(got.Hint, want.hint) {
			t.Errorf("%s: %s (%s)", answer, got.Message, got.Hint)
		}
	}
}
