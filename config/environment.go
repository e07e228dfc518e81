package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/timespan"
)

// platformVariables are the conventional names for the tokens of platforms.
func platformVariables(c *Config) map[string]any {
	return map[string]any{
		"SLACK_BOT_TOKEN":      &c.Slack.BotToken,
		"SLACK_APP_TOKEN":      &c.Slack.AppToken,
		"SLACK_SIGNING_SECRET": &c.Slack.SigningSecret,
		"DISCORD_BOT_TOKEN":    &c.Discord.BotToken,
		"DISCORD_PUBLIC_KEY":   &c.Discord.PublicKey,
		"TELEGRAM_BOT_TOKEN":   &c.Telegram.BotToken,
	}
}

// environment applies variables. NOD_ names override the conventional names, and
// both override the file. A variable such as NOD_AGENTS_<NAME>_TOKEN applies only
// to an entry that the file already has.
func (c *Config) environment(environ []string) error {
	env := map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	for name, field := range platformVariables(c) {
		if v := env[name]; v != "" {
			if err := assign(reflect.ValueOf(field).Elem(), v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return walk(reflect.ValueOf(c).Elem(), "NOD", env)
}

func walk(v reflect.Value, prefix string, env map[string]string) error {
	if v.Kind() != reflect.Struct {
		if env[prefix] == "" {
			return nil
		}
		return assign(v, env[prefix])
	}
	for n := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(n).Tag.Get("yaml"), ",")
		name, f := prefix+"_"+variable(key), v.Field(n)
		switch {
		case f.Kind() == reflect.Map:
			for _, k := range f.MapKeys() {
				entry := reflect.New(f.Type().Elem()).Elem()
				entry.Set(f.MapIndex(k))
				if err := walk(entry, name+"_"+variable(k.String()), env); err != nil {
					return err
				}
				f.SetMapIndex(k, entry)
			}
		case f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[Secret]():
			if err := walk(f, name, env); err != nil {
				return err
			}
		case env[name] != "":
			if err := assign(f, env[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// Variable returns the name of the environment variable for a key: the
// conventional name of a platform's token, or NOD_ and the path in capitals.
func Variable(path ...string) string {
	name := variable(strings.Join(path, "_"))
	if _, common := platformVariables(&Config{})[name]; common {
		return name
	}
	return "NOD_" + name
}

func variable(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, key)
}

func assign(f reflect.Value, s string) error {
	switch x := f.Addr().Interface().(type) {
	case *Secret:
		x.value = s
	case *string:
		*x = s
	case *int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("invalid number %q", s)
		}
		*x = n
	case *bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("invalid value %q (true or false)", s)
		}
		*x = b
	case *Duration:
		d, err := timespan.Parse(s)
		if err != nil {
			return fmt.Errorf("invalid duration %q (such as %s)", s, timespan.Examples)
		}
		*x = Duration(d)
	case *[]string:
		*x = strings.Split(s, ",")
	case *Words:
		*x = strings.Split(s, ",")
	default:
		return fmt.Errorf("cannot be set with a variable; set it in the config file")
	}
	return nil
}
