package discord

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// command runs an application command such as "/name subcommand value" or
// "/name option:value other:value". With suggest, it asks for suggestions for
// the last option instead.
func (cl client) command(m core.Account, a core.Action, suggest bool) (raw.Object, *interaction, error) {
	words := strings.Fields(strings.TrimPrefix(a.Text, "/"))
	ch := cl.channels[a.Channel]
	if len(words) == 0 || ch == nil {
		return nil, nil, cl.Errorf("there is no command %q in %q", a.Text, a.Channel)
	}
	command := cl.registered(words[0], 1)
	if command == nil {
		return nil, nil, cl.Errorf("there is no command %q in %q", a.Text, a.Channel)
	}
	data := raw.Object{"id": command["id"], "name": words[0], "type": 1}
	t := &typed{guild: cl.guild, user: m.ID, suggest: suggest, resolved: raw.Object{}}
	options, err := t.options("/"+words[0], words[1:], raw.Objects(command, "options"))
	if err != nil {
		return nil, nil, err
	}
	if len(options) > 0 {
		data["options"] = options
	}
	if len(t.resolved) > 0 {
		data["resolved"] = t.resolved
	}
	kind := commandUsed
	if suggest {
		kind = suggestionsWanted
	}
	i := cl.begin(m, ch.ID, "", kind)
	i.Focused = t.focused
	return cl.payload(m, i, ch, data, nil), i, nil
}

// typed reads the words of a command.
type typed struct {
	*guild
	user     string
	suggest  bool
	focused  int // kind of the option that needs suggestions
	resolved raw.Object
}

// options returns the options in the words after a command or a subcommand.
func (t *typed) options(of string, words []string, known []raw.Object) ([]any, error) {
	if len(known) > 0 && kindOf(known[0]) <= subcommandGroup {
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
		return []any{raw.Object{"name": name, "type": kindOf(known[n]), "options": inner}}, nil
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
		option := raw.Object{"name": name, "type": kindOf(o), "value": value}
		if t.suggest && len(out) == len(given)-1 {
			if o["autocomplete"] != true {
				return nil, t.Errorf("%s suggests nothing for %q", of, name)
			}
			option["focused"], t.focused = true, kindOf(o)
		}
		out = append(out, option)
	}
	return out, nil
}

// assign returns the texts of options by name. If the words contain no names,
// all of them are the value of the first option.
func (t *typed) assign(of string, words []string, known []raw.Object) (map[string]string, error) {
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
func (t *typed) value(o raw.Object, text string) (any, error) {
	var out any = text
	var err error
	switch kind := kindOf(o); kind {
	case integerOption:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		out = n
	case numberOption:
		out, err = strconv.ParseFloat(text, 64)
	case booleanOption:
		out, err = strconv.ParseBool(text)
	case userOption, roleOption, channelOption:
		t.resolve(t.resolved, map[int]int{userOption: userSelect, roleOption: roleSelect, channelOption: channelSelect}[kind], []any{text})
	}
	if t.suggest {
		return text, nil
	}
	if v, picked := t.suggested[t.user][text]; picked && o["autocomplete"] == true {
		return v, nil
	}
	if err != nil {
		return nil, t.Errorf("%q does not fit %q", text, raw.Str(o, "name"))
	}
	if choices := raw.Objects(o, "choices"); len(choices) > 0 {
		n := slices.IndexFunc(choices, func(c raw.Object) bool { return raw.Str(c, "name") == text || raw.Text(c["value"]) == text })
		if n < 0 {
			return nil, t.Errorf("%q is not among the choices of %q", text, raw.Str(o, "name"))
		}
		out = choices[n]["value"]
	}
	return out, nil
}

// suggest checks a response with suggestions and shows them. If a member picks
// a suggestion, the client sends its value.
func (api interactionsAPI) suggest(i *interaction, d raw.Object) *failure {
	value := text(1, maxOption)
	if i.Focused != stringOption {
		value = func(c *checker, at string, v any) {
			if s, wrong := v.(string); wrong {
				c.fail(at, "NUMBER_TYPE_COERCE", "Value %q is not a number.", s)
			}
		}
	}
	suggestions := shape{{"choices", present}, {"choices", iterable}, {"choices", atMost(maxSuggestions, shape{
		{"name", text(1, maxOption)}, {"value", present}, {"value", value},
	}.rule)}}
	if bad := suggestions.check("data", d, false); bad != nil {
		return bad
	}
	api.suggested[i.User] = map[string]any{}
	for _, o := range raw.Objects(d, "choices") {
		api.suggested[i.User][raw.Str(o, "name")] = o["value"]
		i.Reaction.Choices = append(i.Reaction.Choices, raw.Str(o, "name"))
	}
	return nil
}
