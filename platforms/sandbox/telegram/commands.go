package telegram

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var commandName = lazyregexp.New(`^[a-z0-9_]+$`)

// setCommands checks the commands of a scope. Clients show them in a menu. The
// sandbox has no such menu.
func setCommands(a arguments) (any, *failure) {
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
	}
	var scope raw.Object
	if err := a.structure("scope", &scope); err != nil {
		return nil, badRequest("can't parse BotCommandScope JSON object")
	}
	switch raw.Str(scope, "type") {
	case "", "default", "all_private_chats", "all_group_chats", "all_chat_administrators", "chat", "chat_administrators", "chat_member":
		return true, nil
	}
	return nil, badRequest("can't parse BotCommandScope: Unsupported type specified")
}
