// Package elicitation translates MCP elicitation into requests: a form with a
// JSON Schema, or a URL to open. ACP, the hooks of Claude Code and the
// Codex app server use the same format.
//
// The messages around an elicitation belong to the dialect of each agent.
package elicitation

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Params are the parameters of an elicitation, which are the same in all
// versions of MCP and ACP.
type Params struct {
	Mode            string          `json:"mode,omitempty"` // form or url; if empty, form
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
	URL             string          `json:"url,omitempty"`
}

// Result is the result for the MCP server.
type Result struct {
	Action  string          `json:"action"` // accept, decline or cancel
	Content json.RawMessage `json:"content,omitempty"`
}

// Actions of a result.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// method is the method of the message with an elicitation.
const method = "elicitation/create"

// Translate translates the elicitation of an MCP server: the message, or only its
// parameters. The field serverName, which nod adds, names the server. The answer
// is the result to send back.
func Translate(raw []byte) (dialect.Translation, error) {
	var p struct {
		Params
		Server string `json:"serverName"`
	}
	var m struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := dialect.Decode("message", raw, &m); err != nil {
		return dialect.Translation{}, err
	}
	switch m.Method {
	case "":
	case method:
		raw = m.Params
	default:
		return dialect.Translation{}, bridge.Errorf(bridge.CodeUnsupported, "method: %q is not a request that people answer", m.Method).WithHint("use %s", method)
	}
	if err := dialect.Decode("params", raw, &p); err != nil {
		return dialect.Translation{}, err
	}
	r, err := Request(p.Params, p.Server)
	if err != nil {
		return dialect.Translation{}, err
	}
	return dialect.One(r, "", func(rec bridge.Record) (any, error) { return Answer(rec) }).Named(names), nil
}

// names translates the names of fields in errors with a request to those of
// the parameters.
var names = dialect.Renames(nil, `^questions\[0\]\.schema`, "requestedSchema", `^questions$`, "requestedSchema.properties", `^prompt$`, "message")

// question is the ID of the only question.
const question = "elicitation"

// secret matches the names of properties that people must not type in chat.
var secret = lazyregexp.New(`(?i)(^|[_\-. ])(password|passwd|passphrase|secret|api[ _-]?key|private[ _-]?key|access[ _-]?token|auth[ _-]?token|credential|credentials|otp|pin)([_\-. ]|$)`)

// Request returns the request for an elicitation. People see the name of the
// server in from, which may be empty. Request returns CodeUnsupported if the
// elicitation asks for a secret.
func Request(p Params, from string) (bridge.Request, error) {
	r := bridge.Request{Ask: bridge.Ask{Kind: bridge.KindAsk, Declinable: true, Prompt: p.Message}}
	if strings.TrimSpace(r.Prompt) == "" {
		r.Prompt = "Values requested"
	}
	if from != "" {
		r.ToolName = from
		r.Prompt += "\n\n_Asked by the MCP server_ " + dialect.Code(from)
	}
	switch p.Mode {
	case "", "form":
		if err := refuseSecrets(p.RequestedSchema); err != nil {
			return r, err
		}
		if isEmpty(p.RequestedSchema) {
			r.Questions = []bridge.Question{{ID: question, Widget: bridge.WidgetButtons, Options: []bridge.Option{{Value: accepted, Label: "Accept"}}}}
			break
		}
		r.Questions = []bridge.Question{{ID: question, Widget: bridge.WidgetForm, Schema: p.RequestedSchema}}
	case "url":
		host, err := hostOf(p.URL)
		if err != nil {
			return r, err
		}
		r.Prompt += "\n\nOpen this URL on " + dialect.Code(host) + ", and click Done when you have finished there:\n\n" + dialect.Fenced(p.URL)
		r.Questions = []bridge.Question{{ID: question, Widget: bridge.WidgetButtons, Options: []bridge.Option{{Value: "done", Label: "Done"}}}}
	default:
		return r, bridge.Errorf(bridge.CodeUnsupported, "mode: %q cannot be shown in chat", p.Mode).WithHint("use form or url")
	}
	return r, nil
}

// hostOf returns the host of a URL that people can open and read. The URL must
// be a web address without characters that disguise its target.
func hostOf(s string) (string, error) {
	if s == "" {
		return "", bridge.Errorf(bridge.CodeInvalid, "url: required")
	}
	for _, r := range s {
		if r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) {
			return "", bridge.Errorf(bridge.CodeInvalid, "url: character %U is not allowed", r).WithHint("percent-encode it")
		}
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", bridge.Errorf(bridge.CodeInvalid, "url: invalid URL %q", s)
	case u.Scheme != "https" && u.Scheme != "http":
		return "", bridge.Errorf(bridge.CodeInvalid, "url: %q is not a web address", u.Scheme).WithHint("use https")
	case u.User != nil:
		return "", bridge.Errorf(bridge.CodeInvalid, "url: a user name in the URL hides its host")
	case u.Hostname() == "":
		return "", bridge.Errorf(bridge.CodeInvalid, "url: the host is required")
	}
	return u.Host, nil
}

// accepted is the value of the only option of a form without properties.
const accepted = "accept"

// isEmpty reports whether a form has no properties, so that people can only accept
// or decline its message.
func isEmpty(schema json.RawMessage) bool {
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Least      int                        `json:"minProperties"`
		AllOf      json.RawMessage            `json:"allOf"`
		Ref        string                     `json:"$ref"`
	}
	if len(schema) == 0 || string(schema) == "null" {
		return true
	}
	return dialect.Decode("requestedSchema", schema, &s) == nil && (s.Type == "object" || s.Type == "") &&
		len(s.Properties)+len(s.Required)+s.Least+len(s.AllOf)+len(s.Ref) == 0
}

// refuseSecrets returns CodeUnsupported if a property asks for a secret. It
// also checks nested objects and definitions.
func refuseSecrets(schema json.RawMessage) error {
	var s map[string]any
	if len(schema) == 0 {
		return nil
	}
	if err := dialect.Decode("requestedSchema", schema, &s); err != nil {
		return err
	}
	return secretIn("requestedSchema", s)
}

func secretIn(at string, schema any) error {
	switch schema := schema.(type) {
	case []any:
		for n, part := range schema {
			if err := secretIn(at+"["+strconv.Itoa(n)+"]", part); err != nil {
				return err
			}
		}
	case map[string]any:
		if properties, ok := schema["properties"].(map[string]any); ok {
			for name, p := range properties {
				if isSecret(name, p) {
					return bridge.Errorf(bridge.CodeUnsupported, "%s.properties.%s: asks for a secret, which people should not type in chat", at, name).WithHint("use mode url")
				}
			}
		}
		for name, part := range schema {
			if err := secretIn(at+"."+name, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// isSecret reports whether a property asks for a secret.
func isSecret(name string, property any) bool {
	p, _ := property.(map[string]any)
	title, _ := p["title"].(string)
	hidden, _ := p["writeOnly"].(bool)
	return p["format"] == "password" || hidden || secret.MatchString(name) || secret.MatchString(title)
}

// Answer returns the result for a record. If no person answered, its error is a
// *bridge.EndedError, because each action of a result claims that a person did
// something.
func Answer(r bridge.Record) (Result, error) {
	switch {
	case r.State == bridge.StateAnswered:
		a := r.Response.Answers[question]
		if r.Interaction.Questions[0].Widget == bridge.WidgetButtons && a.Text != accepted {
			return Result{Action: Accept}, nil // a URL elicitation has no content
		}
		content := a.JSON
		if content == nil {
			content = json.RawMessage("{}")
		}
		return Result{Action: Accept, Content: content}, nil
	case r.State == bridge.StateCancelled && (r.Response.Actor != nil || r.Response.Stops()):
		return Result{Action: Decline}, nil
	}
	return Result{}, &bridge.EndedError{Record: r}
}
