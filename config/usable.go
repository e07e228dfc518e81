package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// checkAddresses checks the addresses that the daemon listens on and connects
// to.
func (c Config) checkAddresses(bad func(path, format string, args ...any)) {
	if reason := listenProblem(c.Listen); reason != "" {
		bad("listen", "invalid address %q: %s; set HOST:PORT, such as 127.0.0.1:8787", c.Listen, reason)
	}
	c.checkRedis(bad)
}

func listenProblem(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "a host and a port are required"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Sprintf("port %q is out of range (0 to 65535)", port)
	}
	return ""
}

// Usable returns an error if a daemon with this valid config could not ask
// anyone, for example because the config is empty.
func (c Config) Usable() error {
	var errs []error
	if len(c.Platforms()) == 0 && !c.Console.Enabled {
		errs = append(errs, errors.New("no platform has a token, so nod cannot ask anyone; run nod init"))
	}
	if len(c.Routes) == 0 {
		errs = append(errs, errors.New("routes: at least one is required; requests use the route default"))
	}
	return errors.Join(errs...)
}

// clientTokens is the prefix of variables in which scripts store several
// tokens, such as NOD_TOKEN_CI.
const clientTokens = "NOD_TOKEN_"

// ownVariables lists the variables that other commands of nod read.
var ownVariables = []string{"NOD_URL", "NOD_TOKEN", "NOD_CONFIG", "NOD_RECEIPT_KEYS"}

// injected matches the variables that Kubernetes sets for a service named nod.
var injected = lazyregexp.New(`_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_\w+)?$`)

// UnknownVariables returns an error for variables that start with NOD_ and
// resemble a setting. It also returns the names of other variables with this
// prefix that are not settings, which may belong to another program. A config
// file may refer to a variable with any name.
func (c Config) UnknownVariables(environ []string) (others []string, err error) {
	known := c.variables()
	for _, name := range ownVariables {
		known[name] = true
	}
	var errs []error
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "NOD_") || known[name] || strings.HasPrefix(name, clientTokens) || injected.MatchString(name) || c.used[name] {
			continue
		}
		if near := nearest(name, slices.Collect(maps.Keys(known))); near != "" {
			errs = append(errs, fmt.Errorf("%s: unknown variable; did you mean %s?", name, near))
		} else {
			others = append(others, name)
		}
	}
	return others, errors.Join(errs...)
}
