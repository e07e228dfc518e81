// Package deploy embeds the files that the program itself prints.
package deploy

// The package embed is imported for its directive go:embed.
import _ "embed"

// SlackManifest is the manifest of nod's Slack app in Socket Mode.
//
//go:embed slack-manifest.json
var SlackManifest []byte

// PolicyStarter is a starter set of policy rules, as a section of the config.
//
//go:embed policy/starter.yaml
var PolicyStarter []byte

// ConfigSchema is the JSON Schema of the config file.
//
//go:embed nod.schema.json
var ConfigSchema []byte
