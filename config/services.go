package config

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
