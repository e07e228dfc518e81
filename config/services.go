package config

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

// Metrics says who may read /metrics.
type Metrics struct {
	Token Secret `yaml:"token"` // empty: everybody who reaches the API
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

// Webhook is told how requests ended.
type Webhook struct {
	URL    Secret   `yaml:"url"`    // a secret, as many hold a token
	Secret Secret   `yaml:"secret"` // whsec_…; several with commas while one is rotated
	Agents []string `yaml:"agents"` // whose requests; empty: all
}
