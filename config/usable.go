package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkAddresses checks the addresses that the daemon listens on and connects
// to.
func (c Config) checkAddresses(bad func(path, format string, args ...any)) {
	if reason := listenProblem(c.Listen); reason != "" {
		bad("listen", "invalid address %q: %s; set HOST:PORT, such as 127.0.0.1:8787", c.Listen, reason)
	}
	if !c.Redis.URL.Set() {
		return
	}
	servers, err := c.Redis.Servers()
	switch u := servers.URL; {
	case err != nil:
		bad("redis.url", "%v", err)
	case !slices.Contains([]string{"redis", "rediss", "unix"}, u.Scheme):
		bad("redis.url", "unknown scheme %q (redis, rediss or unix); set a URL such as redis://127.0.0.1:6379/0", u.Scheme)
	case u.Scheme != "unix" && slices.Contains(servers.Hosts, ""):
		bad("redis.url", "a host is required; set a URL such as redis://127.0.0.1:6379/0")
	}
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
// anyone, such as with an empty config.
func (c Config) Usable() error {
	var errs []error
	if len(c.Platforms()) == 0 {
		errs = append(errs, errors.New("no platform has a token, so nod cannot ask anyone; run nod init"))
	}
	if len(c.Routes) == 0 {
		errs = append(errs, errors.New("routes: at least one is required; requests use the route default"))
	}
	return errors.Join(errs...)
}

// clientTokens is the prefix of variables in which scripts keep several tokens,
// such as NOD_TOKEN_CI.
const clientTokens = "NOD_TOKEN_"

// ownVariables are the variables that other commands of nod read.
var ownVariables = []string{"NOD_URL", "NOD_TOKEN", "NOD_CONFIG", "NOD_RECEIPT_KEYS"}

// injected matches the variables that Kubernetes sets for a service named nod.
var injected = regexp.MustCompile(`_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_\w+)?$`)

// UnknownVariables returns an error for variables that begin with NOD_ and that
// no key of the config has, such as a mistyped one. A config file may refer to a
// variable with any name. The config was read from the file at path.
func (c Config) UnknownVariables(path string, environ []string) error {
	var text []byte
	if path != "" {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	names(reflect.ValueOf(&c).Elem(), "NOD", known)
	for _, name := range ownVariables {
		known[name] = true
	}
	var errs []error
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if value == "" || !strings.HasPrefix(name, "NOD_") || known[name] || strings.HasPrefix(name, clientTokens) || injected.MatchString(name) || mentions(text, name) {
			continue
		}
		hint := "docs/configuration.md lists the variables"
		if near := nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		errs = append(errs, fmt.Errorf("%s: unknown variable; %s", name, hint))
	}
	return errors.Join(errs...)
}

// mentions reports whether a text has a name as a whole word.
func mentions(text []byte, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).Match(text)
}

// names collects the names of the variables of a config.
func names(v reflect.Value, prefix string, known map[string]bool) {
	if v.Kind() != reflect.Struct {
		known[prefix] = true
		return
	}
	for n := range v.NumField() {
		if !v.Type().Field(n).IsExported() {
			continue
		}
		key, _, _ := strings.Cut(v.Type().Field(n).Tag.Get("yaml"), ",")
		name, f := prefix+"_"+variable(key), v.Field(n)
		switch {
		case f.Kind() == reflect.Map:
			for _, k := range f.MapKeys() {
				names(f.MapIndex(k), name+"_"+variable(k.String()), known)
			}
		case f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[Secret]():
			names(f, name, known)
		default:
			known[name] = true
		}
	}
}

// nearest returns the known name that begins most like name and has about its
// length, or "".
func nearest(name string, known map[string]bool) string {
	best, most := "", len(name)/2
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if n := common(name, k) + common(reversed(name), reversed(k)); n > most && max(len(k)-len(name), len(name)-len(k)) < 3 {
			best, most = k, n
		}
	}
	return best
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
