// Package deploy holds what nod is installed with: the parts that the program
// itself hands out.
package deploy

import _ "embed" // for the manifest

// SlackManifest is the app that nod is in Slack, in Socket Mode.
//
//go:embed slack-manifest.json
var SlackManifest []byte

// PolicyStarter is a set of policy rules to start with, as a part of the
// config.
//
//go:embed policy/starter.yaml
var PolicyStarter []byte
