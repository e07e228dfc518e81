package daemon

import (
	"errors"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
)

// Load reads and checks a config as a daemon does. Others are the variables that
// begin with NOD_ and that no setting has. The start, a reload and nod config check
// call it, so that they accept and refuse the same.
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

// check builds what a daemon builds of a config, without connecting to anything.
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
	_, _, err = Platforms(c, false, nil, nil, nil, nil)
	errs = append(errs, err)
	for path, s := range map[string]config.Secret{"token_key": c.TokenKey, "receipts.key": c.Receipts.Key} {
		if s.Set() {
			_, err = hexKeys(path, s)
			errs = append(errs, err)
		}
	}
	for n, err := range errs {
		if e, ok := errors.AsType[*bridge.Error](err); ok { // its code is that of the whole
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
