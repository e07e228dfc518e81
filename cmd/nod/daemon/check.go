package daemon

import (
	"errors"
	"os"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms"
)

// Load reads and checks a config in the same way as a daemon. It also returns
// the variables that start with NOD_ but are not settings. The start, a reload
// and nod config check call it, so that all of them accept the same configs.
func Load(path string, environ []string) (c config.Config, others []string, err error) {
	c, err = config.Load(path, environ)
	if err == nil {
		others, err = c.UnknownVariables(environ)
	}
	if err == nil {
		err = check(c)
	}
	if err != nil {
		return c, others, bridge.Wrap(bridge.CodeInvalid, err, "config")
	}
	return c, others, nil
}

// check builds the parts that a daemon builds from a config, without connecting
// to anything.
func check(c config.Config) error {
	var errs []error
	_, err := Policy(c)
	errs = append(errs, err)
	_, err = Redactor(c)
	errs = append(errs, err)
	_, err = Routes(c)
	errs = append(errs, err)
	_, err = buildWebhooks(c)
	errs = append(errs, err)
	_, err = Platforms(c, false, platforms.Options{})
	errs = append(errs, err)
	errs = append(errs, checkKeys(c)...)
	for n, err := range errs {
		if e, ok := errors.AsType[*bridge.Error](err); ok { // the joined error has a code of its own
			text := e.Message
			if e.Cause != nil {
				text += ": " + e.Cause.Error()
			}
			if e.Hint != "" {
				text += "; " + e.Hint
			}
			errs[n] = errors.New(text)
		}
	}
	return c.Locate(errors.Join(errs...))
}

// checkKeys checks the keys of the config, or of the key file if it exists. If
// there is no key file, a daemon creates one.
func checkKeys(c config.Config) []error {
	token, receipts := c.TokenKey, c.Receipts.Key
	tokenPath, receiptsPath := "token_key", "receipts.key"
	if _, err := os.Stat(c.KeysFile); err == nil && (!token.Set() || !receipts.Set()) {
		f, err := parseKeyFile(c.KeysFile)
		if err != nil {
			return []error{err}
		}
		if !token.Set() {
			token, tokenPath = config.NewSecret(f.Token), "keys_file: token_key"
		}
		if !receipts.Set() {
			receipts, receiptsPath = config.NewSecret(f.Receipts), "keys_file: receipts_key"
		}
	}
	var errs []error
	for _, k := range []struct {
		path string
		s    config.Secret
		from func(...[]byte) error
	}{
		{tokenPath, token, func(k ...[]byte) error { _, err := bridge.NewKeyring(k...); return err }},
		{receiptsPath, receipts, func(k ...[]byte) error { _, err := proof.NewSigner(k...); return err }},
	} {
		if !k.s.Set() {
			continue
		}
		all, err := hexKeys(k.path, k.s)
		if err == nil && k.from(all...) != nil {
			err = bridge.Errorf(bridge.CodeInvalid, "%s: must be 32 bytes in hex, or several such keys with commas between them", k.path).
				WithHint("generate a key with: openssl rand -hex 32")
		}
		errs = append(errs, err)
	}
	return errs
}
