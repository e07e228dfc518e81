//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKeysAreChecked checks that nod config check, a start and a reload refuse keys
// with which a daemon could not work, wherever they are, and that nothing hangs.
func TestKeysAreChecked(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), strings.Repeat("ab", 32)
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "keys_file: " + path
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                  "",
		"token_key: " + key: "",
		"token_key: \"" + key + ", " + key + "\"":                   "",
		"keys_file: " + filepath.Join(dir, "none yet"):              "",
		file("good", "token_key: "+key+"\nreceipts_key: "+key+"\n"): "",
		"token_key: abcd":                                       "token_key: must be 32 bytes",
		"token_key: \"" + key + ",\"":                           "token_key: must be 32 bytes",
		"token_key: xyz":                                        "token_key: invalid hex",
		"receipts: {key: " + key + "ab}":                        "receipts.key: must be 32 bytes",
		"keys_file: " + dir:                                     "not a regular file",
		"keys_file: /dev/zero":                                  "not a regular file",
		"keys_file: " + pipe:                                    "the pipe is empty",
		file("empty", ""):                                       "invalid key file",
		file("half", "token_key: "+key+"\n"):                    "invalid key file",
		file("short", "token_key: ab\nreceipts_key: "+key+"\n"): "keys_file: token_key: must be 32 bytes",
	} {
		path := filepath.Join(t.TempDir(), "nod.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		switch _, _, err := Load(path, nil); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
