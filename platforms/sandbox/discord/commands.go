package discord

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Kinds of options of a command:
// docs.discord.com/developers/interactions/application-commands.
const (
	subcommand   = 1
	stringOption = 3
)

var commandName = lazyregexp.New(`^[-_'\p{L}\p{N}]{1,32}$`)

// commandShape is a command of the chat. Commands of menus are refused.
var commandShape = shape{
	{"type", optional(oneOf(1))}, {"name", commandNamed}, whole(func(c *checker, at string, o raw.Object) { c.options(at, o, 0) }),
}

var commandNamed = that(func(v any) bool {
	name, _ := v.(string)
	return commandName.MatchString(name) && strings.ToLower(name) == name
}, "", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")

// options checks the description and the options of a command or a subcommand.
// Holder is the kind of the option that contains them, or 0. Options other than
// subcommands and texts are refused.
func (c *checker) options(at string, o raw.Object, holder int) {
	optional := false
	shape{{"description", text(1, maxCommandDescription)}, {"options", atMost(maxCommandOptions, object(func(c *checker, at string, opt raw.Object) {
		kind := kindOf(opt)
		if kind != stringOption && (kind != subcommand || holder != 0) {
			c.fail(at+".type", "BASE_TYPE_CHOICES", "Value must be one of the option types that fit here.")
		}
		commandNamed(c, at+".name", opt["name"])
		if opt["autocomplete"] == true && len(raw.List(opt, "choices")) > 0 {
			c.fail(at, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE", "Options with choices cannot use autocomplete")
		}
		c.options(at, opt, kind)
		if optional && opt["required"] == true {
			c.fail(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || kind == stringOption && opt["required"] != true
	}))}, {"options", unique("name", "", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")}}.rule(c, at, o)
}

// createCommand creates a command, or updates the command with its name.
func (e *Emulator) createCommand(c *call) any {
	if c.PathValue("app") != Application {
		return notFound
	}
	o := raw.Copy(c.args)
	if bad := commandShape.check("", o, false); bad != nil {
		return bad
	}
	old := e.commands[raw.Str(o, "name")]
	switch {
	case old != nil:
		o["id"] = old["id"]
	case len(e.commands) >= maxCommands:
		return &failure{400, 30032, "Maximum number of application commands reached (100).", nil}
	default:
		c.status, o["id"] = 201, e.snowflake()
	}
	o["type"], o["application_id"], o["version"] = 1, Application, e.snowflake()
	if _, given := o["default_member_permissions"]; !given {
		o["default_member_permissions"] = nil
	}
	e.commands[raw.Str(o, "name")] = o
	return raw.Clone(o)
}

// command runs an application command such as "/name subcommand value" or
// "/name option:value other:value". With suggest, it asks for suggestions for
// the last option instead.
func (e *Emulator) command(m core.Account, a core.Action, suggest bool) (*interaction, error) {
	words := strings.Fields(strings.TrimPrefix(a.Text, "/"))
	ch := e.channels[a.Channel]
	var command raw.Object
	if len(words) > 0 {
		command = e.commands[words[0]]
	}
	if command == nil || ch == nil {
		return nil, e.Errorf("there is no command %q in %q", a.Text, a.Channel)
	}
	data := raw.Object{"id": command["id"], "name": words[0], "type": 1}
	t := typed{Emulator: e, user: m.ID, suggest: suggest}
	options, err := t.options("/"+words[0], words[1:], raw.Objects(command, "options"))
	if err != nil {
		return nil, err
	}
	if len(options) > 0 {
		data["options"] = options
	}
	kind := commandUsed
	if suggest {
		kind = suggestionsWanted
	}
	return e.begin(m, ch, nil, kind, data), nil
}

// typed reads the words of a command.
type typed struct {
	*Emulator
	user    string
	suggest bool
}

// options returns the options in the words after a command or a subcommand.
func (t typed) options(of string, words []string, known []raw.Object) ([]any, error) {
	if len(known) > 0 && kindOf(known[0]) == subcommand {
		name := ""
		if len(words) > 0 {
			name = words[0]
		}
		n := slices.IndexFunc(known, func(o raw.Object) bool { return raw.Str(o, "name") == name })
		if n < 0 {
			return nil, t.Errorf("%s has no %q", of, name)
		}
		inner, err := t.options(of+" "+name, words[1:], raw.Objects(known[n], "options"))
		if err != nil {
			return nil, err
		}
		if inner == nil {
			inner = []any{}
		}
		return []any{raw.Object{"name": name, "type": subcommand, "options": inner}}, nil
	}
	given, err := t.assign(of, words, known)
	if err != nil {
		return nil, err
	}
	var out []any
	for _, o := range known {
		name := raw.Str(o, "name")
		text, set := given[name]
		if !set {
			if o["required"] == true && !t.suggest {
				return nil, t.Errorf("%s needs %q", of, name)
			}
			continue
		}
		value, err := t.value(o, text)
		if err != nil {
			return nil, err
		}
		option := raw.Object{"name": name, "type": stringOption, "value": value}
		if t.suggest && len(out) == len(given)-1 {
			if o["autocomplete"] != true {
				return nil, t.Errorf("%s suggests nothing for %q", of, name)
			}
			option["focused"] = true
		}
		out = append(out, option)
	}
	return out, nil
}

// assign returns the texts of options by name. If the words contain no names,
// all of them are the value of the first option.
func (t typed) assign(of string, words []string, known []raw.Object) (map[string]string, error) {
	given, last := map[string]string{}, ""
	for _, w := range words {
		name, text, named := strings.Cut(w, ":")
		if named && slices.ContainsFunc(known, func(o raw.Object) bool { return raw.Str(o, "name") == name }) {
			given[name], last = text, name
			continue
		}
		if last == "" {
			if len(known) == 0 {
				return nil, t.Errorf("%s takes no values", of)
			}
			last = raw.Str(known[0], "name")
			given[last] = w
			continue
		}
		given[last] += " " + w
	}
	if t.suggest && len(given) == 0 && len(known) > 0 { // the member has not typed anything yet
		given[raw.Str(known[0], "name")] = ""
	}
	return given, nil
}

// value returns the value of an option in the format of the API. While a member
// types, the value may be incomplete.
func (t typed) value(o raw.Object, text string) (any, error) {
	if t.suggest {
		return text, nil
	}
	if v, picked := t.suggested[t.user][text]; picked && o["autocomplete"] == true {
		return v, nil
	}
	if choices := raw.Objects(o, "choices"); len(choices) > 0 {
		n := slices.IndexFunc(choices, func(c raw.Object) bool { return raw.Str(c, "name") == text || raw.Text(c["value"]) == text })
		if n < 0 {
			return nil, t.Errorf("%q is not among the choices of %q", text, raw.Str(o, "name"))
		}
		return choices[n]["value"], nil
	}
	return text, nil
}

// suggest checks a response with suggestions and shows them. If a member picks
// a suggestion, the client sends its value.
func (e *Emulator) suggest(i *interaction, d raw.Object) *failure {
	suggestions := shape{{"choices", present}, {"choices", iterable}, {"choices", atMost(maxSuggestions, shape{
		{"name", text(1, maxOption)}, {"value", present}, {"value", text(1, maxOption)},
	}.rule)}}
	if bad := suggestions.check("data", d, false); bad != nil {
		return bad
	}
	e.suggested[i.User] = map[string]any{}
	for _, o := range raw.Objects(d, "choices") {
		e.suggested[i.User][raw.Str(o, "name")] = o["value"]
		i.Reaction.Choices = append(i.Reaction.Choices, raw.Str(o, "name"))
	}
	return nil
}
