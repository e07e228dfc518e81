package config

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Redis is the connection to Redis: one server, Sentinel or a Cluster.
type Redis struct {
	// URL is the address of Redis: redis://, rediss:// (TLS) or unix://. It is
	// required. With several hosts, separated by commas, these are nodes of a
	// Cluster, or Sentinels if master_name says under which name they know the
	// master: redis://s1:26379,s2:26379/0?master_name=mymaster. A user name (ACL)
	// is part of the URL.
	//
	// Example: redis://127.0.0.1:6379/0
	URL Secret `yaml:"url"`
	// SentinelPassword is the password of the Sentinels.
	//
	// Example: {env: NOD_REDIS_SENTINEL_PASSWORD}
	SentinelPassword Secret `yaml:"sentinel_password"`
	// Password is the password of the Redis user.
	//
	// Example: {env: NOD_REDIS_PASSWORD}
	Password Secret `yaml:"password"`
	// Prefix is the first part of every Redis key. Two installations that share
	// a Redis need different prefixes.
	//
	// Default: nod
	// Example: nod-staging
	Prefix string `yaml:"prefix"`
	// WaitReplicas is the number of replicas that must confirm a decision before
	// it counts. It cannot be used with a Cluster: set min-replicas-to-write on
	// its nodes instead.
	//
	// Example: 1
	WaitReplicas int `yaml:"wait_replicas"`
}

// Servers are the servers that a URL names.
type Servers struct {
	URL    *url.URL // of the first server
	Hosts  []string // of all servers
	Master string   // the name of the master, if the servers are Sentinels
}

// Cluster reports whether the servers are the nodes of a Cluster.
func (s Servers) Cluster() bool { return len(s.Hosts) > 1 && s.Master == "" }

// Servers parses the URL. Its error contains no part of the URL, which may have
// a password.
func (r Redis) Servers() (Servers, error) {
	scheme, rest, _ := strings.Cut(r.URL.Value(), "://")
	end := strings.IndexAny(rest+"/", "/?")
	from := strings.LastIndex(rest[:end], "@") + 1
	s := Servers{Hosts: strings.Split(rest[from:end], ",")}
	var err error
	if s.URL, err = url.Parse(scheme + "://" + rest[:from] + s.Hosts[0] + rest[end:]); err != nil {
		return s, errors.New("invalid URL; set a URL such as redis://127.0.0.1:6379/0")
	}
	query := s.URL.Query()
	s.Master = query.Get("master_name")
	query.Del("master_name")
	s.URL.RawQuery = query.Encode()
	for n, host := range s.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
			s.Hosts[n] = net.JoinHostPort(strings.Trim(host, "[]"), "6379")
		}
	}
	return s, nil
}

// Receipts configures the signatures of decisions.
type Receipts struct {
	// Key is the key that signs decisions, votes, grants and the audit log: the
	// 32-byte seed of an Ed25519 key, in hex. All daemons of one Redis need the
	// same key. To replace it, set OLD,NEW on every daemon, then NEW,OLD: the
	// first key signs, and all of them verify. If it is not set, the key is in
	// keys_file.
	//
	// Example: {env: NOD_RECEIPTS_KEY}
	Key Secret `yaml:"key"`
}

// Audit configures the log of decisions, votes, refusals and grants.
type Audit struct {
	// Retention is the time for which nod keeps audit entries. Zero means
	// forever. Events that are not audit entries are removed 90 days after the
	// retention of closed requests.
	//
	// Example: 8760h
	Retention Duration `yaml:"retention"`
}

// Metrics configures the endpoint /metrics.
type Metrics struct {
	// Token is the bearer token that /metrics requires, at least 16 characters.
	// If it is not set, everyone who can reach the API can read the metrics.
	//
	// Example: {env: NOD_METRICS_TOKEN}
	Token Secret `yaml:"token"`
}

// Traces configures the export of OpenTelemetry traces.
type Traces struct {
	// Endpoint is the URL of a collector that accepts OTLP over HTTP, including
	// its path. If empty, nod exports no traces.
	//
	// Example: http://127.0.0.1:4318/v1/traces
	Endpoint string `yaml:"endpoint"`
}

// Console configures the web console below /console/.
type Console struct {
	// Enabled turns the web console on.
	//
	// Example: true
	Enabled bool `yaml:"enabled"`
	// URL is the URL at which browsers reach nod. OpenID Connect requires
	// it. If it starts with https, browsers send the session cookie over HTTPS
	// only.
	//
	// Example: https://nod.example.com
	URL string `yaml:"url"`
	// OIDC configures sign-in with an identity provider. If it is not set,
	// people sign in with their token.
	OIDC OIDC `yaml:"oidc"`
}

// OIDC configures sign-in with OpenID Connect. The email address that the
// provider has confirmed must be the email of a person. Register the redirect
// URL CONSOLE_URL/console/oidc/callback at the provider.
type OIDC struct {
	// Issuer is the URL of the identity provider.
	//
	// Example: https://accounts.example.com
	Issuer string `yaml:"issuer"`
	// ClientID is the client ID that the provider gave nod.
	//
	// Example: nod
	ClientID string `yaml:"client_id"`
	// ClientSecret is the client secret that the provider gave nod.
	//
	// Example: {env: NOD_CONSOLE_OIDC_CLIENT_SECRET}
	ClientSecret Secret `yaml:"client_secret"`
}

// Webhook is a receiver of outcomes. See docs/events.md for the requests that
// it gets.
type Webhook struct {
	// URL is the HTTP or HTTPS address that receives a POST for every outcome.
	// It is a secret because many such addresses contain a token.
	//
	// Example: https://audit.example.com/nod
	URL Secret `yaml:"url"`
	// Secret is the signing secret: whsec_ and 24 to 64 bytes in base64. To
	// replace it, set both secrets with a comma between them.
	//
	// Example: {env: NOD_WEBHOOK_SECRET}
	Secret Secret `yaml:"secret"`
	// Agents are the agents whose outcomes are sent. If empty, the outcomes of
	// all agents are sent.
	//
	// Example: [ci]
	Agents []string `yaml:"agents"`
}
