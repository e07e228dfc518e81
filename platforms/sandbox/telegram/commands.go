package telegram

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var commandName = lazyregexp.New(`^[a-z0-9_]+$`)

// setCommands sets the commands of a scope and a language.
func (api chatsAPI) setCommands(a arguments) (any, *failure) {
	var given []any
	if err := a.structure("commands", &given); err != nil {
		return nil, badRequest("can't parse commands JSON object")
	}
	if len(given) > maxCommands {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range raw.All(given) {
		name, what := strings.TrimPrefix(raw.Str(c, "command"), "/"), strings.TrimSpace(raw.Str(c, "description"))
		switch {
		case c == nil:
			return nil, badRequest("can't parse BotCommand: expected an Object")
		case !commandName.MatchString(name) || len(name) > maxCommand:
			return nil, badRequest("BOT_COMMAND_INVALID")
		case what == "" || raw.Runes(what) > maxDescription:
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
		c["command"], c["description"] = name, what
	}
	scope, bad := scopeOf(a)
	if bad != nil {
		return nil, bad
	}
	api.commands[scope] = given
	return true, nil
}

func (api chatsAPI) getCommands(a arguments) (any, *failure) {
	scope, bad := scopeOf(a)
	if bad != nil {
		return nil, bad
	}
	if given := api.commands[scope]; given != nil {
		return given, nil
	}
	return []any{}, nil
}

func (api chatsAPI) deleteCommands(a arguments) (any, *failure) {
	scope, bad := scopeOf(a)
	if bad != nil {
		return nil, bad
	}
	delete(api.commands, scope)
	return true, nil
}

// scopeOf returns the scope and the language of a call as a key.
func scopeOf(a arguments) (string, *failure) {
	var scope raw.Object
	if err := a.structure("scope", &scope); err != nil {
		return "", badRequest("can't parse BotCommandScope JSON object")
	}
	kind := raw.Str(scope, "type")
	switch kind {
	case "":
		kind = "default"
	case "default", "all_private_chats", "all_group_chats", "all_chat_administrators":
	case "chat", "chat_administrators", "chat_member":
		kind += " " + raw.Text(scope["chat_id"]) + " " + raw.Text(scope["user_id"])
	default:
		return "", badRequest("can't parse BotCommandScope: Unsupported type specified")
	}
	return kind + " " + a.text("language_code"), nil
}
