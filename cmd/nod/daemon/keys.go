package daemon

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/config/files"
)

// keysInRedis explains the risk of keys that are kept in Redis.
const keysInRedis = "keys are kept in Redis: anyone who can read and write Redis can forge decisions, grants and the audit log"

// keys holds the keys with which a daemon signs controls and decisions.
type keys struct {
	token  [][]byte
	signer *proof.Signer
	// inRedis means that a key is stored in Redis. Its signatures prove
	// nothing, because others may read it. The field why holds the reason, if
	// known.
	inRedis bool
	why     string
	// open is the reason that other users of the machine can use the keys. It
	// is empty if they cannot.
	open string
}

// fingerprint returns a hash that identifies the keys without revealing them.
func (k keys) fingerprint() string {
	h := hmac.New(sha256.New, k.token[0])
	h.Write([]byte("nod keys\x00" + k.signer.PublicKeys().Keys[0].KeyID))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// keyFile is the content of the key file, in hex as in the config.
type keyFile struct {
	Token    string `yaml:"token_key"`
	Receipts string `yaml:"receipts_key"`
	// Former lists the public keys of receipt keys that were kept in Redis
	// earlier. They verify older seals of the audit log.
	Former []string `yaml:"former,omitempty"`
}

// Fingerprint returns the fingerprint of the keys in a config and its key file.
// It returns CodeNotFound if a key is in neither, and creates none.
func Fingerprint(ctx context.Context, c config.Config) (string, error) {
	k, err := loadKeys(ctx, c, nil)
	if err != nil {
		return "", err
	}
	return k.fingerprint(), nil
}

// loadKeys returns the keys of the config. Missing keys come from the key file,
// which loadKeys creates, or from Redis if there can be no such file. With a
// nil store, it creates nothing and returns CodeNotFound for missing keys.
func loadKeys(ctx context.Context, c config.Config, store keyring) (keys, error) {
	f, why, err := filedKeys(ctx, c, store)
	if err != nil {
		return keys{}, err
	}
	var k keys
	if f.Token != "" {
		k.open = openKeyFile(c.KeysFile)
	}
	if k.token, err = secretKeys("token_key", c.TokenKey, f.Token); err != nil {
		return k, err
	}
	seeds, err := secretKeys("receipts.key", c.Receipts.Key, f.Receipts)
	if err != nil {
		return k, err
	}
	k.inRedis = len(k.token) == 0 || len(seeds) == 0
	if k.inRedis && why != nil {
		k.why = why.Error()
	}
	if seeds, err = k.fill(ctx, store, seeds); err != nil {
		return k, err
	}
	if k.signer, err = proof.NewSigner(seeds...); err != nil {
		return k, bridge.Errorf(bridge.CodeInvalid, "receipts.key: %s", bridge.PublicError(err).Message).
			WithHint("generate a key with: openssl rand -hex 32")
	}
	for _, former := range f.Former {
		raw, err := hex.DecodeString(former)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return k, bridge.Errorf(bridge.CodeInvalid, "%s: former: invalid public key; want hex", c.KeysFile)
		}
		k.signer.Formerly(proof.NewJWK(raw))
	}
	return k, nil
}

// filedKeys reads the key file if the config lacks a key. Why is the reason if
// a key file cannot exist.
func filedKeys(ctx context.Context, c config.Config, store keyring) (f keyFile, why, err error) {
	if c.TokenKey.Set() && c.Receipts.Key.Set() {
		return f, nil, nil
	}
	f, why = readKeyFile(ctx, c.KeysFile, store)
	switch bridge.ErrorCode(why) {
	case bridge.CodeConflict, bridge.CodeInvalid, bridge.CodeNotFound:
		return f, nil, why
	default:
		return f, why, nil
	}
}

// fill gets keys that are in neither the config nor the key file from Redis.
func (k *keys) fill(ctx context.Context, store keyring, seeds [][]byte) ([][]byte, error) {
	if len(k.token) == 0 {
		key, err := store.TokenKey(ctx)
		if err != nil {
			return nil, err
		}
		k.token = [][]byte{key}
	}
	if len(seeds) > 0 {
		return seeds, nil
	}
	seed, err := store.SigningKey(ctx)
	return [][]byte{seed}, err
}

// secretKeys returns the keys of the config, or of the key file if the config
// has none.
func secretKeys(path string, secret config.Secret, filed string) ([][]byte, error) {
	if secret.Set() {
		return hexKeys(path, secret)
	}
	if filed == "" {
		return nil, nil
	}
	return hexKeys(path, config.NewSecret(filed))
}

// readKeyFile reads the key file. It creates the file if it does not exist, or
// returns CodeNotFound if store is nil. An error other than CodeConflict,
// CodeInvalid and CodeNotFound means that a key file cannot exist.
func readKeyFile(ctx context.Context, path string, store keyring) (keyFile, error) {
	_, err := os.Lstat(path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && store == nil:
		return keyFile{}, bridge.Errorf(bridge.CodeNotFound, "token_key and receipts.key are not set, and there is no key file")
	case path == "":
		return keyFile{}, bridge.Errorf(bridge.CodeUnavailable, "cannot create a key file without a config file")
	case missing:
		if err := makeKeyFile(ctx, path, store); err != nil {
			return keyFile{}, err
		}
	}
	return parseKeyFile(path)
}

// maxKeyFile limits the size of a key file, in bytes.
const maxKeyFile = 1 << 20

// parseKeyFile reads a key file. Every error has CodeInvalid.
func parseKeyFile(path string) (keyFile, error) {
	var f keyFile
	raw, err := files.Read(path, maxKeyFile)
	if err != nil { // with other keys, no stored record would verify
		return f, bridge.Errorf(bridge.CodeInvalid, "keys_file: %v", err).WithHint("make the file readable by the user that runs nod")
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil || f.Token == "" || f.Receipts == "" {
		return f, bridge.Errorf(bridge.CodeInvalid, "%s: invalid key file", path).
			WithHint("restore it from a backup; without it, pending requests cannot be decided")
	}
	return f, nil
}

// makeKeyFile writes new keys to a file that only its owner can read. It
// returns an error if the deployment already signs with other keys.
func makeKeyFile(ctx context.Context, path string, store keyring) error {
	other := func(fingerprint string) error {
		return bridge.Errorf(bridge.CodeConflict, "%s: not found, but the daemons of this Redis already sign with keys (%s)", path, fingerprint).
			WithHint("copy the file from a running daemon, or set its token_key and receipts.key in the config; "+
				"if the keys are lost, delete the Redis key %s and send pending requests again", store.KeysKey())
	}
	known, err := store.Keys(ctx)
	if err != nil {
		return err
	}
	if known != "" {
		if _, err := os.Lstat(path); err == nil {
			return nil // another daemon that is starting has created it
		}
		return other(known)
	}
	f := keyFile{Token: config.NewKey(bridge.MinKey), Receipts: config.NewKey(ed25519.SeedSize)}
	before, err := store.FormerSigningKey(ctx)
	if err != nil {
		return err
	}
	if len(before) == ed25519.SeedSize {
		public := ed25519.NewKeyFromSeed(before).Public().(ed25519.PublicKey)
		f.Former = []string{hex.EncodeToString(public)}
	}
	made, err := writeKeyFile(path, f)
	if err != nil {
		return err
	}
	return claimKeyFile(ctx, path, made, store, other)
}

// claimKeyFile claims the keys in the file for the deployment, no matter which
// daemon created the file. Keys outside of a file are never claimed. If another
// deployment has already claimed the keys, the daemon that created the file
// removes the file. In all other cases, the file stays, because other daemons
// may already use it.
func claimKeyFile(ctx context.Context, path string, made bool, store keyring, other func(string) error) error {
	kept, err := parseKeyFile(path)
	if err != nil {
		return err
	}
	mine, err := fingerprintOf(kept)
	if err != nil {
		return bridge.Errorf(bridge.CodeInvalid, "%s: invalid key file", path)
	}
	known, err := store.ClaimKeys(ctx, mine)
	if err != nil || known == mine {
		return err
	}
	if made {
		err = os.Remove(path)
	}
	return errors.Join(other(known), err)
}

func fingerprintOf(f keyFile) (string, error) {
	token, err := hex.DecodeString(f.Token)
	if err != nil {
		return "", err
	}
	seed, err := hex.DecodeString(f.Receipts)
	if err != nil {
		return "", err
	}
	s, err := proof.NewSigner(seed)
	if err != nil {
		return "", err
	}
	return keys{token: [][]byte{token}, signer: s}.fingerprint(), nil
}

// writeKeyFile writes the file atomically and reports whether it created it. It
// never overwrites a file, because another daemon that is starting may have
// created it.
func writeKeyFile(path string, f keyFile) (made bool, err error) {
	raw, err := yaml.Marshal(f)
	if err != nil {
		return false, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".nod-keys-*") // mode 0600
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString("# nod signs with these keys. Keep a copy, and keep them secret.\n" + string(raw))
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return false, err
	}
	err = os.Link(tmp.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// openKeyFile returns the reason why users other than the owner and the group
// of a key file can use the keys, or "" if they cannot.
func openKeyFile(path string) string {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o027 == 0 {
		return ""
	}
	return fmt.Sprintf("%s has mode %04o: other users of this machine can read or change the keys; run chmod 600 on the file",
		path, info.Mode().Perm())
}

// announce logs the risks of the keys and records their fingerprint.
func (k keys) announce(ctx context.Context, c config.Config, store keyring, log *slog.Logger) error {
	if k.open != "" {
		log.Warn(k.open)
	}
	switch {
	case !k.inRedis:
		// Redis without free memory refuses writes
		if known, err := store.Keys(ctx); err != nil || known == k.fingerprint() {
			return err
		}
		return store.SetKeys(ctx, k.fingerprint())
	case k.why != "":
		log.Warn(keysInRedis+"; cannot use a key file", "file", c.KeysFile, "why", k.why)
	default:
		log.Warn(keysInRedis + "; set token_key and receipts.key, or keys_file")
	}
	return nil
}

// health reports whether the keys protect the stored data, and whether all
// daemons use the same keys.
func (k keys) health(others []string) bridge.Health {
	mine := k.fingerprint()
	for _, other := range others {
		if other != mine {
			return bridge.Health{State: bridge.HealthDown, Reason: "daemons sign with different keys (" + mine + " and " + other + "), " +
				"so they do not accept each other's decisions; give all of them the same token_key and receipts.key"}
		}
	}
	if k.inRedis {
		return bridge.Health{State: bridge.HealthDegraded, Reason: keysInRedis}
	}
	if k.open != "" {
		return bridge.Health{State: bridge.HealthDegraded, Reason: k.open}
	}
	return bridge.Health{State: bridge.HealthUp}
}

// MemoryKeys returns a function that adds random keys to a config without keys.
// The keys exist only in memory, for a Redis that also loses its data.
func MemoryKeys() func(*config.Config) {
	token, receipts := config.NewSecret(config.NewKey(bridge.MinKey)), config.NewSecret(config.NewKey(ed25519.SeedSize))
	return func(c *config.Config) {
		if !c.TokenKey.Set() {
			c.TokenKey = token
		}
		if !c.Receipts.Key.Set() {
			c.Receipts.Key = receipts
		}
	}
}

// hexKeys decodes comma-separated keys in hex.
func hexKeys(path string, secret config.Secret) ([][]byte, error) {
	var out [][]byte
	for s := range strings.SplitSeq(secret.Value(), ",") {
		key, err := hex.DecodeString(strings.TrimSpace(s))
		if err != nil {
			return nil, bridge.Errorf(bridge.CodeInvalid, "%s: invalid hex", path).
				WithHint("generate a key with: openssl rand -hex 32; to rotate keys, put the new key first: NEW,OLD")
		}
		out = append(out, key)
	}
	return out, nil
}
