// Package config reads nod's configuration: plain data from a YAML file and
// the environment, checked as a whole.
package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// DefaultPath is the config file where none is named.
const DefaultPath = "nod.yaml"

// Config is the whole configuration. Every key is also an environment
// variable: NOD_ and its path in capitals, such as NOD_REDIS_URL; the tokens of
// the platforms have the names that people use already.
type Config struct {
	Listen string `yaml:"listen"` // address of the API; default 127.0.0.1:8787
	// MaxConnections is how many connections the API has open at a time. Beyond
	// it, the oldest without a valid token is closed. Default 16384; each caller that waits for an answer is one.
	MaxConnections int `yaml:"max_connections"`
	// Hosts are further names under which clients reach nod, such as
	// nod.example.com or *.example.com. Requests for other names are refused,
	// against DNS rebinding; IP addresses, localhost, and the hosts of
	// console.url and telegram.webhook_url are always known.
	Hosts    Words  `yaml:"hosts"`
	LogLevel string `yaml:"log_level"`
	Redis    Redis  `yaml:"redis"`
	TokenKey Secret `yaml:"token_key"` // signs controls, hex; empty: in KeysFile
	// KeysFile is where the keys are kept that the config does not have; the
	// daemon makes it on its first start. Default nod.keys next to the config.
	KeysFile  string             `yaml:"keys_file"`
	Slack     Slack              `yaml:"slack"`
	Discord   Discord            `yaml:"discord"`
	Telegram  Telegram           `yaml:"telegram"`
	People    map[string]Person  `yaml:"people"`
	Routes    map[string]Route   `yaml:"routes"`
	Agents    map[string]Agent   `yaml:"agents"`
	Webhooks  map[string]Webhook `yaml:"webhooks"`
	Groups    map[string]Group   `yaml:"groups"`
	Identity  Identity           `yaml:"identity"`
	OnCall    map[string]OnCall  `yaml:"oncall"` // schedules
	Redact    Redact             `yaml:"redact"`
	Risks     []Risk             `yaml:"risks"`  // named levels, the worst last
	Policy    []Rule             `yaml:"policy"` // the first rule that matches decides
	Receipts  Receipts           `yaml:"receipts"`
	Audit     Audit              `yaml:"audit"`
	Retention Duration           `yaml:"retention"` // of settled interactions; default 720h
	Metrics   Metrics            `yaml:"metrics"`
	Console   Console            `yaml:"console"`
	Traces    Traces             `yaml:"traces"`
}

// Metrics says who may read /metrics.
type Metrics struct {
	Token Secret `yaml:"token"` // empty: everybody who reaches the API
}

// Console is a page in the browser, below /console/.
type Console struct {
	Enabled bool `yaml:"enabled"`
	// URL is where browsers reach nod; needed for OIDC. With https its cookies
	// are for https only.
	URL  string `yaml:"url"`
	OIDC OIDC   `yaml:"oidc"`
}

// OIDC logs in the people whose email an identity provider has confirmed. Empty:
// people log in by their token.
type OIDC struct {
	Issuer       string `yaml:"issuer"`
	ClientID     string `yaml:"client_id"`
	ClientSecret Secret `yaml:"client_secret"`
}

// Traces says where OpenTelemetry traces go.
type Traces struct {
	// Endpoint is an address of OTLP over HTTP, with its path; empty: there are
	// no traces.
	Endpoint string `yaml:"endpoint"`
	// Sample is the part of the requests that are traced, of those that bring
	// no trace of their own: 0 (the default) is all of them, else up to 1.
	Sample float64 `yaml:"sample"`
}

// Receipts says what signs them.
type Receipts struct {
	// Key is the seed of an Ed25519 key, 32 bytes in hex; several with commas,
	// of which the first signs. If it is empty, the key is in KeysFile, or if no
	// such file can be kept, in Redis, where whoever can read it can forge
	// receipts.
	Key Secret `yaml:"key"`
}

// Audit says how long the log of decisions and refusals is kept.
type Audit struct {
	Retention Duration `yaml:"retention"` // 0: for ever
}

// Redis says where the state is.
type Redis struct {
	// URL is redis://, rediss:// or unix://.
	URL Secret `yaml:"url"`
	// Addrs with a MasterName are Sentinels, several without one a Cluster.
	Addrs      []string `yaml:"addrs"`
	MasterName string   `yaml:"master_name"`
	// SentinelPassword is that of the Sentinels, which may differ from Redis'.
	SentinelPassword Secret `yaml:"sentinel_password"`
	Username         string `yaml:"username"`
	Password         Secret `yaml:"password"`
	Prefix           string `yaml:"prefix"` // of keys; default nod
	Partitions       int    `yaml:"partitions"`
	// WaitReplicas is how many replicas must have a decision before it counts;
	// not for a Cluster.
	WaitReplicas int `yaml:"wait_replicas"`
}

// Slack is a workspace. It is used if a bot token is set.
type Slack struct {
	BotToken      Secret `yaml:"bot_token"`
	AppToken      Secret `yaml:"app_token"`      // Socket Mode
	SigningSecret Secret `yaml:"signing_secret"` // HTTP mode
	APIURL        string `yaml:"api_url"`
	Pacing        *bool  `yaml:"pacing"`
}

// Discord is an application. It is used if a bot token is set.
type Discord struct {
	BotToken  Secret `yaml:"bot_token"`
	PublicKey string `yaml:"public_key"` // HTTP mode
	APIURL    string `yaml:"api_url"`
	Pacing    *bool  `yaml:"pacing"`
}

// Telegram is a bot. It is used if a bot token is set.
type Telegram struct {
	BotToken      Secret `yaml:"bot_token"`
	WebhookURL    string `yaml:"webhook_url"` // webhook mode
	WebhookSecret Secret `yaml:"webhook_secret"`
	APIURL        string `yaml:"api_url"`
	Pacing        *bool  `yaml:"pacing"`
}

// Person is a human with accounts.
type Person struct {
	Slack    string `yaml:"slack"`    // member id, U…
	Discord  string `yaml:"discord"`  // user id
	Telegram string `yaml:"telegram"` // numeric user id
	// IDs are the person's ids in schedules, by their kind: pagerduty: PABC123.
	IDs   map[string]string `yaml:"ids"`
	Email string            `yaml:"email"` // for identity.email, and schedules that name people by it
	Token Secret            `yaml:"token"` // to answer by API and command line; empty: not
	// TokenHashes are as those of an agent.
	TokenHashes Words `yaml:"token_hashes"`
	Auditor     bool  `yaml:"auditor"` // may read the audit log
}

// Route says where requests go and who may answer.
type Route struct {
	To         []string `yaml:"to"`         // platform:channel, or platform:channel/thread
	Responders []string `yaml:"responders"` // names of people, and of groups as @name
	// Quorum is how many people have to approve; 0 means one.
	Quorum int `yaml:"quorum"`
	// Must are people or @groups, of whom one each has to be among them.
	Must []string `yaml:"must"`
	// Deny is ends (the default), or counts: as many denials are needed as
	// approvals.
	Deny string `yaml:"deny"`
	// Escalation is done step by step while nobody answers, and waits in Quiet
	// hours.
	Escalation []Step `yaml:"escalation"`
	Quiet      *Quiet `yaml:"quiet"`
	// Snooze offers to be reminded so much later, HandOver to ask one of these
	// people (at most 4).
	Snooze   Duration `yaml:"snooze"`
	HandOver Words    `yaml:"hand_over"`
	// AllowSelf lets the human behind the agent answer.
	AllowSelf bool `yaml:"allow_self"`
	// EscalateTo names the route that is asked as well when nobody answered in
	// time and the request says escalate; empty: none.
	EscalateTo string `yaml:"escalate_to"`
}

// Agent may ask.
type Agent struct {
	Token Secret `yaml:"token"`
	// TokenHashes are sha256: and the hash of a token, instead of the token or
	// besides it: nod token makes both. Several are good while one is replaced.
	TokenHashes Words    `yaml:"token_hashes"`
	Routes      []string `yaml:"routes"` // empty: all
	// Kinds are ask, approval and notice; Scopes are once, session and always;
	// empty: all.
	Kinds  Words `yaml:"kinds"`
	Scopes Words `yaml:"scopes"`
	// PerMinute bounds requests, MaxPending those that wait at once, MaxBytes
	// the size of one; 0: no bound.
	PerMinute  int `yaml:"per_minute"`
	MaxPending int `yaml:"max_pending"`
	MaxBytes   int `yaml:"max_bytes"`
	// Owners are the people behind the agent, who do not approve what it asks.
	Owners []string `yaml:"owners"`
}

// Webhook is told how requests ended.
type Webhook struct {
	URL    Secret   `yaml:"url"`    // a secret, as many hold a token
	Secret Secret   `yaml:"secret"` // whsec_…; several with commas while one is rotated
	Agents []string `yaml:"agents"` // whose requests; empty: all
}

// Load reads a file, then the environment, and checks the whole. An empty path
// means that there is no file. The error joins every problem.
func Load(path string, environ []string) (Config, error) {
	c, err := Read(path, environ)
	if err != nil {
		return c, err
	}
	return c, c.Check()
}

// Read is Load without the check of the whole.
func Read(path string, environ []string) (Config, error) {
	c := Config{}
	if path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return c, err
		}
		if c, err = Parse(raw, filepath.Dir(path)); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := c.environment(environ); err != nil {
		return c, err
	}
	if path != "" {
		c.KeysFile = cmp.Or(c.KeysFile, "nod.keys")
		if !filepath.IsAbs(c.KeysFile) {
			c.KeysFile = filepath.Join(filepath.Dir(path), c.KeysFile)
		}
	}
	c.defaults()
	return c, nil
}

// Parse reads YAML, strictly: an unknown key is an error with its line. Files
// that secrets name are looked for from dir.
func Parse(raw []byte, dir string) (Config, error) {
	var c Config
	dec := yaml.NewDecoder(strings.NewReader(string(raw)))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && err.Error() != "EOF" {
		return c, err
	}
	return c, readFiles(reflect.ValueOf(&c).Elem(), dir)
}

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
}

// Names of the platforms in the config.
const (
	PlatformSlack    = "slack"
	PlatformDiscord  = "discord"
	PlatformTelegram = "telegram"
)

// Platforms are the names of the platforms that have a token.
func (c Config) Platforms() []string {
	var out []string
	for _, p := range []struct {
		name  string
		token Secret
	}{{PlatformSlack, c.Slack.BotToken}, {PlatformDiscord, c.Discord.BotToken}, {PlatformTelegram, c.Telegram.BotToken}} {
		if p.token.Set() {
			out = append(out, p.name)
		}
	}
	return out
}

// Account is the person's id on a platform; empty: none.
func (p Person) Account(platform string) string {
	switch platform {
	case PlatformSlack:
		return p.Slack
	case PlatformDiscord:
		return p.Discord
	case PlatformTelegram:
		return p.Telegram
	}
	return ""
}

// Target is a parsed entry of Route.To.
type Target struct{ Platform, Channel, Thread string }

// ParseTarget reads platform:channel/thread.
func ParseTarget(s string) (Target, error) {
	platform, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return Target{}, fmt.Errorf("%q is not like slack:C0123, discord:123 or telegram:-100123", s)
	}
	if !slices.Contains([]string{PlatformSlack, PlatformDiscord, PlatformTelegram}, platform) {
		return Target{}, fmt.Errorf("%q: there is no platform %q", s, platform)
	}
	channel, thread, _ := strings.Cut(rest, "/")
	return Target{platform, channel, thread}, nil
}
