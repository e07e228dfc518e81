package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// keyed returns a keyring and a function that loads the keys of a daemon for it.
func keyed(t *testing.T) (*store.Keyring, func(path string) (keys, error)) {
	t.Helper()
	ring := store.NewKeyring(redistest.Shared(t).Client(t), "")
	return ring, func(path string) (keys, error) {
		return loadKeys(t.Context(), config.Config{KeysFile: path}, ring)
	}
}

// TestKeyFile checks that a daemon creates its keys once, in a file that no one
// else can read, and that a daemon on another host does not create other keys.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	ring, load := keyed(t)
	path := filepath.Join(t.TempDir(), "nod.keys")
	if _, err := Fingerprint(t.Context(), config.Config{KeysFile: path}); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("no keys: %v", err)
	}
	first, err := load(path)
	if err != nil || first.inRedis {
		t.Fatalf("%+v, %v", first, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, err := load(path)
	if err != nil || again.fingerprint() != first.fingerprint() {
		t.Errorf("the next start has other keys: %v", err)
	}
	if seen, err := Fingerprint(t.Context(), config.Config{KeysFile: path}); err != nil || seen != first.fingerprint() {
		t.Errorf("nod doctor reads other keys: %v", err)
	}
	if _, err := load(filepath.Join(t.TempDir(), "nod.keys")); bridge.ErrorCode(err) != bridge.CodeConflict || !strings.Contains(bridge.PublicError(err).Hint, "copy the file") {
		t.Errorf("another daemon created its own keys: %v", err)
	}
	if s, err := ring.FormerSigningKey(t.Context()); err != nil || s != nil {
		t.Errorf("a key is in Redis: %v", err)
	}
	if err := os.WriteFile(path, []byte("token_key: ''\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a broken file is not rejected: %v", err)
	}
}

// TestKeyFileAtOnce checks that daemons that start concurrently with the same
// config all use the keys of the same file and claim them.
func TestKeyFileAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		ring, load := keyed(t)
		path := filepath.Join(t.TempDir(), "nod.keys")
		got := make([]string, 4)
		var wg sync.WaitGroup
		for n := range got {
			wg.Go(func() {
				k, err := load(path)
				if err != nil || k.inRedis {
					t.Errorf("%v, in Redis: %v", err, k.inRedis)
					return
				}
				got[n] = k.fingerprint()
			})
		}
		wg.Wait()
		again, err := load(path)
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := ring.Keys(t.Context())
		for _, one := range append(got, claimed) {
			if err != nil || one != again.fingerprint() {
				t.Fatalf("keys of the file: %s, of the daemons: %v, claimed: %s, %v", again.fingerprint(), got, claimed, err)
			}
		}
	}
}

// TestKeyFileNowhere checks that a dangling symbolic link claims no keys,
// because no file would contain them.
func TestKeyFileNowhere(t *testing.T) {
	t.Parallel()
	ring, load := keyed(t)
	path := filepath.Join(t.TempDir(), "nod.keys")
	if err := os.Symlink(filepath.Join(t.TempDir(), "gone"), path); err != nil {
		t.Fatal(err)
	}
	if k, err := load(path); err == nil {
		t.Errorf("it starts, with keys in Redis: %v", k.inRedis)
	}
	if claimed, err := ring.Keys(t.Context()); err != nil || claimed != "" {
		t.Errorf("keys that no file has are claimed: %q, %v", claimed, err)
	}
}

// TestKeyFileOpen checks that the log and the health check warn of a key file
// that other users can read.
func TestKeyFileOpen(t *testing.T) {
	t.Parallel()
	ring, load := keyed(t)
	path := filepath.Join(t.TempDir(), "nod.keys")
	if _, err := load(path); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o666: false, 0o620: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		k, err := load(path)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		if err := k.announce(t.Context(), config.Config{}, ring, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if h := k.health(nil); (h.State == bridge.HealthUp) != good || strings.Contains(log.String(), "chmod 600") == good {
			t.Errorf("%o: %+v, %s", mode, h, log.String())
		}
	}
}

// TestKeysFallBack checks that keys are kept in Redis only if there can be no
// key file, and that the log and the health check explain the risk.
func TestKeysFallBack(t *testing.T) {
	t.Parallel()
	ring, load := keyed(t)
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none", "nod.keys")} {
		k, err := load(path)
		if err != nil || !k.inRedis {
			t.Fatalf("%q: %v", path, err)
		}
		var log bytes.Buffer
		if err := k.announce(t.Context(), config.Config{}, ring, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if h := k.health(nil); h.State != bridge.HealthDegraded || !strings.Contains(h.Reason, "can forge") || !strings.Contains(log.String(), "can forge") {
			t.Errorf("%+v, %s", h, log.String())
		}
	}
	// An installation that kept its keys in Redis gets new keys and still
	// accepts its old seals.
	old, err := load("")
	if err != nil {
		t.Fatal(err)
	}
	k, err := load(filepath.Join(t.TempDir(), "nod.keys"))
	if err != nil || k.inRedis || k.fingerprint() == old.fingerprint() {
		t.Fatalf("%v", err)
	}
	public := k.signer.PublicKeys()
	if len(public.Keys) != 1 || len(public.Former) != 1 || public.Former[0].KeyID != old.signer.PublicKeys().Keys[0].KeyID {
		t.Errorf("the public keys are %+v, want one and the former one", public)
	}
	if h := k.health([]string{k.fingerprint(), old.fingerprint()}); h.State != bridge.HealthDown || !strings.Contains(h.Reason, "different keys") {
		t.Errorf("health is %+v, want down because of different keys", h)
	}
}
