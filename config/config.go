// Package config reads nod's configuration: plain data from a YAML file and
// the environment, checked as a whole.
package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

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
