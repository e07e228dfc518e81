package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/config/files"
)

// Redis is the connection to Redis: one server, Sentinel or a Cluster.
type Redis struct {
	// URL is the address of Redis: redis://, rediss:// (TLS) or unix://. It is
	// required. Several hosts, separated by commas, are nodes of a Cluster.
	// With master_name, they are Sentinels that know the master under this
	// name: redis://s1:26379,s2:26379/0?master_name=mymaster. A user name (ACL)
	// is part of the URL. Other options are db and skip_verify.
	//
	// Example: redis://127.0.0.1:6379/0
	URL Secret `yaml:"url"`
	// Cluster means that the server is a Cluster with one address, such as the
	// configuration endpoint of a managed Redis. Several hosts without
	// master_name are always a Cluster.
	//
	// Example: true
	Cluster bool `yaml:"cluster"`
	// TLS configures connections to a rediss:// URL, including those to Sentinels
	// and to the nodes of a Cluster.
	TLS RedisTLS `yaml:"tls"`
	// SentinelPassword is the password of the Sentinels.
	//
	// Example: {env: NOD_REDIS_SENTINEL_PASSWORD}
	SentinelPassword Secret `yaml:"sentinel_password"`
	// Password is the password of the Redis user.
	//
	// Example: {env: NOD_REDIS_PASSWORD}
	Password Secret `yaml:"password"`
	// Prefix is the first part of every Redis key, without braces. Two
	// installations that share a Redis need different prefixes.
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

// RedisTLS holds the paths of files in PEM format. A relative path starts at
// the directory of the configuration file.
type RedisTLS struct {
	// CA is the file with the certificates of the CAs that nod trusts. If it is
	// not set, nod trusts those of the system.
	//
	// Example: /etc/nod/redis-ca.pem
	CA string `yaml:"ca"`
	// Cert is the file with the client certificate of nod. nod reads it again for
	// each connection.
	//
	// Example: /etc/nod/redis-cert.pem
	Cert string `yaml:"cert"`
	// Key is the file with the key of the client certificate.
	//
	// Example: /etc/nod/redis-key.pem
	Key string `yaml:"key"`
}

// Config returns the TLS configuration for connections to Redis. The expected
// name of each server is the host of its address.
func (t RedisTLS) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		raw, err := files.Read(t.CA, maxFile)
		if err != nil {
			return nil, fmt.Errorf("redis.tls.ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("redis.tls.ca: %s has no certificate in PEM format", t.CA)
		}
	}
	if t.Cert == "" && t.Key == "" {
		return c, nil
	}
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("redis.tls: cert and key belong together; set both")
	}
	load := func() (*tls.Certificate, error) {
		cert, err := files.Read(t.Cert, maxFile)
		if err != nil {
			return nil, fmt.Errorf("redis.tls.cert: %w", err)
		}
		key, err := files.Read(t.Key, maxFile)
		if err != nil {
			return nil, fmt.Errorf("redis.tls.key: %w", err)
		}
		both, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("redis.tls.cert: %w", err)
		}
		return &both, nil
	}
	if _, err := load(); err != nil {
		return nil, err
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	return c, nil
}

// Servers are the servers that a URL names.
type Servers struct {
	URL     *url.URL // URL of the first server
	Hosts   []string // addresses of all servers
	Master  string   // the name of the master, if the servers are Sentinels
	Cluster bool     // the servers are the nodes of a Cluster, or its only address
	DB      int
}

// TLS reports whether connections use TLS.
func (s Servers) TLS() bool { return s.URL.Scheme == "rediss" }

// encoded is the hint for a password that ends the URL too early. Password
// generators use such characters.
const encoded = ", and set a password with /, ?, # or % as redis.password, or percent-encode it"

// Servers parses the URL. Its error contains no part of the URL, which may have
// a password.
func (r Redis) Servers() (Servers, error) {
	scheme, rest, _ := strings.Cut(r.URL.Value(), "://")
	end := strings.IndexAny(rest+"/", "/?")
	from := strings.LastIndex(rest[:end], "@") + 1
	s := Servers{Hosts: strings.Split(rest[from:end], ",")}
	var err error
	if s.URL, err = url.Parse(scheme + "://" + rest[:from] + s.Hosts[0] + rest[end:]); err != nil {
		return s, errors.New("invalid URL; set a URL such as redis://127.0.0.1:6379/0" + encoded)
	}
	query := s.URL.Query()
	s.Master = query.Get("master_name")
	s.Cluster = r.Cluster || len(s.Hosts) > 1 && s.Master == ""
	db := query.Get("db")
	if s.URL.Scheme != "unix" && strings.Trim(s.URL.Path, "/") != "" {
		db = strings.Trim(s.URL.Path, "/")
	}
	if db != "" {
		if s.DB, err = strconv.Atoi(db); err != nil || s.DB < 0 {
			return s, fmt.Errorf("invalid database %q; set a number, as in redis://127.0.0.1:6379/0", db)
		}
	}
	for n, host := range s.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
			s.Hosts[n] = net.JoinHostPort(strings.Trim(host, "[]"), "6379")
		}
	}
	return s, nil
}

// redisOptions lists the valid options of the Redis URL.
var redisOptions = []string{"db", "master_name", "skip_verify"}

// checkRedis checks the address of Redis and the combination of its settings.
func (c Config) checkRedis(bad func(path, format string, args ...any)) {
	if strings.ContainsAny(c.Redis.Prefix, "{}") {
		bad("redis.prefix", "must not contain braces: nod puts it in braces, so that all keys are in one slot of a Cluster")
	}
	r := c.Redis
	if !r.URL.Set() {
		return
	}
	s, err := r.Servers()
	if err != nil {
		bad("redis.url", "%v", err)
		return
	}
	switch {
	case !slices.Contains([]string{"redis", "rediss", "unix"}, s.URL.Scheme):
		bad("redis.url", "unknown scheme %q (redis, rediss or unix); set a URL such as redis://127.0.0.1:6379/0", s.URL.Scheme)
		return
	case s.URL.Scheme == "unix":
		if s.URL.Path == "" || s.URL.Host != "" {
			bad("redis.url", "the path of a socket is required; set a URL such as unix:///run/redis.sock")
		}
	case slices.Contains(s.Hosts, ""):
		bad("redis.url", "a host is required; set a URL such as redis://127.0.0.1:6379/0"+encoded)
		return
	}
	for _, host := range s.Hosts {
		if _, port, _ := net.SplitHostPort(host); s.URL.Scheme != "unix" {
			if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
				bad("redis.url", "port %q is out of range (1 to 65535)", port)
			}
		}
	}
	for _, option := range slices.Sorted(maps.Keys(s.URL.Query())) {
		if !slices.Contains(redisOptions, option) {
			bad("redis.url", "unknown option %q (%s)%s", option, strings.Join(redisOptions, ", "), meant(option, redisOptions))
		}
	}
	if v := s.URL.Query().Get("skip_verify"); v != "" {
		if _, err := strconv.ParseBool(v); err != nil || !s.TLS() {
			bad("redis.url", "skip_verify must be true or false, and needs rediss://")
		}
	}
	r.checkTogether(bad, s)
}

// checkTogether checks that no setting of Redis makes another one ineffective.
func (r Redis) checkTogether(bad func(path, format string, args ...any), s Servers) {
	if s.Cluster && s.Master != "" {
		bad("redis.cluster", "not allowed with master_name in redis.url: Sentinels are not a Cluster; remove one of them")
	}
	if s.Cluster && s.DB != 0 {
		bad("redis.url", "a Cluster has only database 0; remove the database %d", s.DB)
	}
	if s.Cluster && r.WaitReplicas > 0 {
		bad("redis.wait_replicas", "not supported with a Cluster; set min-replicas-to-write on its nodes instead")
	}
	if r.SentinelPassword.Set() && s.Master == "" {
		bad("redis.sentinel_password", "not used without master_name in redis.url; add it, or remove the password")
	}
	if _, both := s.URL.User.Password(); both && r.Password.Set() {
		bad("redis.password", "redis.url has a password as well; keep one of them")
	}
	switch _, err := r.TLS.Config(); {
	case r.TLS == RedisTLS{}:
	case !s.TLS():
		bad("redis.tls", "not used without TLS; begin redis.url with rediss://, or remove redis.tls")
	case err != nil:
		path, text, _ := strings.Cut(err.Error(), ": ")
		bad(path, "%s", text)
	}
}
