// Package config reads nod's configuration from a YAML file and the
// environment. It checks everything, so that one run reports every mistake.
//
// This package holds plain data and its checks. The settings of a platform come
// from its kind in platforms/kinds, and the rules of the policy belong to
// package policy. The daemon builds routes and platforms from the data. Start
// with [Load].
package config

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config/files"
)

// Config is the complete configuration. The comments on its fields are the text
// of docs/configuration.md: a sentence that starts with the name of the field,
// then the lines "Default:" (if it is not the zero value) and "Example:", which
// is YAML for the value of the key.
type Config struct {
	// Listen is the address of the HTTP API. Agents, browsers, and platforms in
	// HTTP mode connect to it.
	//
	// Default: 127.0.0.1:8787
	// Example: 0.0.0.0:8787
	Listen string `yaml:"listen"`
	// MaxConnections is the number of connections that the API keeps open. Each
	// waiting caller uses one. Beyond the limit, nod closes the oldest
	// connection without a valid token. A change needs a restart.
	//
	// Default: 16384
	// Example: 4096
	MaxConnections int `yaml:"max_connections"`
	// Hosts are additional names under which clients reach nod. A name such as
	// *.example.com matches every subdomain. nod answers requests for any other
	// name with status 421, which prevents DNS rebinding. IP addresses,
	// localhost, and the hosts of listen, console.url and telegram.webhook_url
	// are always allowed.
	//
	// Example: [nod, "*.nod.svc.cluster.local"]
	Hosts []string `yaml:"hosts"`
	// Origins are other web origins whose pages may open the WebSocket API, for a
	// front end that another server serves. An origin such as https://*.example.com
	// matches every subdomain. Pages from the address of nod are always allowed.
	//
	// Example: ["https://app.example.com", "http://localhost:9000"]
	Origins []string `yaml:"origins"`
	// LogLevel is the lowest level that nod logs: debug, info, warn or error. A
	// change needs a restart.
	//
	// Default: info
	// Example: debug
	LogLevel string `yaml:"log_level"`
	// Redis is the server that stores all state. A change needs a restart.
	Redis Redis `yaml:"redis"`
	// TokenKey is the key that binds the controls on cards to their request and
	// destination: 32 bytes in hex. All daemons of one Redis need the same key.
	// To replace it, set OLD,NEW on every daemon, then NEW,OLD. If it is not
	// set, the key is in keys_file.
	//
	// Example: {env: NOD_TOKEN_KEY}
	TokenKey Secret `yaml:"token_key"`
	// KeysFile is the file with the keys that token_key and receipts.key do not
	// set. The daemon creates it at its first start. A relative path starts at
	// the directory of the configuration file.
	//
	// Default: nod.keys
	// Example: /var/lib/nod/nod.keys
	KeysFile string `yaml:"keys_file"`
	// Sandbox is the URL of a running nod sandbox. It replaces the addresses of
	// all three services, and nod does not pace its calls. It is for tests.
	//
	// Example: http://127.0.0.1:8788
	Sandbox string `yaml:"sandbox"`
	// Connections holds the settings of the platforms, by platform. The values
	// are pointers to types such as slack.Settings.
	Connections map[string]any `yaml:",inline"`
	// People are the people who can respond, by name.
	People map[string]Person `yaml:"people"`
	// Routes say where requests go and who can respond, by name. A request that
	// names no route uses the route default.
	Routes map[string]Route `yaml:"routes"`
	// Agents are the programs that can send requests, by name.
	Agents map[string]Agent `yaml:"agents"`
	// Webhooks are other systems that receive every outcome, by name.
	Webhooks map[string]Webhook `yaml:"webhooks"`
	// Groups are sets of people, by name. Refer to one as @NAME.
	Groups map[string]Group `yaml:"groups"`
	// Identity configures how nod recognizes accounts that people do not list.
	Identity Identity `yaml:"identity"`
	// OnCall are on-call schedules, by name. A group refers to one with
	// groups.NAME.oncall. Each schedule has exactly one kind.
	OnCall map[string]OnCall `yaml:"oncall"`
	// Redact configures what nod hides in addition to known credential formats.
	Redact Redact `yaml:"redact"`
	// Risks are the risk levels that rules can assign, the highest last.
	Risks []policy.Risk `yaml:"risks"`
	// Policy is the ordered list of rules. For each part of a request, the first
	// rule that matches decides. If no rule matches, nod asks people.
	Policy []policy.Rule `yaml:"policy"`
	// Receipts configures the signatures of decisions.
	Receipts Receipts `yaml:"receipts"`
	// Audit configures the audit log.
	Audit Audit `yaml:"audit"`
	// Retention is the time for which nod keeps closed requests. A change needs a
	// restart.
	//
	// Default: 720h
	// Example: 2160h
	Retention Duration `yaml:"retention"`
	// Metrics configures the endpoint for Prometheus.
	Metrics Metrics `yaml:"metrics"`
	// Console configures the web console.
	Console Console `yaml:"console"`
	// Traces configures OpenTelemetry traces. A change needs a restart.
	Traces Traces `yaml:"traces"`

	at   map[string]string // place of each setting, by its path
	used map[string]bool   // variables that the file refers to
}

// Load reads a file and then the environment, and checks the result. If path is
// empty, it reads only the environment. The error joins all problems, each with
// its place and the path of its setting.
func Load(path string, environ []string) (Config, error) {
	c, err := Read(path, environ)
	if err != nil {
		return c, err
	}
	return c, c.Locate(c.Check())
}

// Read is like Load, but does not check settings in combination.
func Read(path string, environ []string) (Config, error) {
	c, r := Config{}, newReader(path, environ)
	if path != "" {
		raw, err := files.Read(path, maxFile)
		if err != nil {
			return c, err
		}
		r.document(raw, &c)
	}
	if len(r.errs) == 0 {
		r.variables(&c, environ)
	}
	c.at, c.used = r.at, r.used
	if err := errors.Join(append(r.errs, c.removedVariables(environ))...); err != nil {
		return c, err
	}
	if path != "" {
		c.KeysFile = cmp.Or(c.KeysFile, "nod.keys")
		for _, file := range []*string{&c.KeysFile, &c.Redis.TLS.CA, &c.Redis.TLS.Cert, &c.Redis.TLS.Key} {
			if *file != "" && !filepath.IsAbs(*file) {
				*file = filepath.Join(filepath.Dir(path), *file)
			}
		}
	}
	c.defaults()
	return c, nil
}

// Parse decodes YAML strictly. An unknown key is an error with its line. If the
// key was removed, the error also names its replacement. Relative paths of
// secrets start at dir.
func Parse(raw []byte, dir string) (Config, error) {
	c, r := Config{}, newReader("", os.Environ())
	r.dir = dir
	r.document(raw, &c)
	c.at, c.used = r.at, r.used
	return c, errors.Join(r.errs...)
}

// newReader returns a reader for a file. If path is empty, the reader reads
// only the environment.
func newReader(path string, environ []string) *reader {
	r := &reader{file: path, at: map[string]string{}, used: map[string]bool{}, env: map[string]string{}}
	if path != "" {
		r.dir = filepath.Dir(path)
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		r.env[name] = value
	}
	return r
}

// Locate adds the place of a setting to each line of err that begins with its
// path: the file and the line, or a variable.
func (c Config) Locate(err error) error {
	if err == nil {
		return nil
	}
	var out []error
	for line := range strings.SplitSeq(err.Error(), "\n") {
		path, _, _ := strings.Cut(line, ": ")
		if place := c.place(path); place != "" {
			line = place + ": " + line
		}
		out = append(out, errors.New(line))
	}
	return errors.Join(out...)
}

// place returns the place of a setting, or of the setting that contains it.
func (c Config) place(path string) string {
	for path != "" {
		if place := c.at[path]; place != "" {
			return place
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return ""
}

// Size limits of a config file and of a secret file, in bytes.
const (
	maxFile   = 4 << 20
	maxSecret = 64 << 10
)

// Limits of an agent without limits in its entry. They stop a runaway agent
// before it floods people.
const (
	defaultPerMinute  = 120
	defaultMaxPending = 200
)

func (c *Config) defaults() {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:8787"
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 16384
	}
	if c.LogLevel == "" {
		c.LogLevel = "info"
	}
	if c.Redis.Prefix == "" {
		c.Redis.Prefix = "nod"
	}
	if c.Retention == 0 {
		c.Retention = Duration(720 * time.Hour)
	}
	for name, a := range c.Agents {
		a.PerMinute, a.MaxPending = cmp.Or(a.PerMinute, defaultPerMinute), cmp.Or(a.MaxPending, defaultMaxPending)
		c.Agents[name] = a
	}
}
