package discord

import (
	"errors"

	"github.com/bwmarrin/discordgo"
)

// Error codes of the API:
// docs.discord.com/developers/topics/opcodes-and-status-codes.
const (
	codeNoChannel  = 10003
	codeUnknown    = 10062 // of an interaction whose three seconds are over
	codeAcked      = 40060 // an earlier response to the interaction arrived
	codeNoAccess   = 50001
	codeNotAllowed = 50013
	codeArchived   = 50083
	codeHasThread  = 160004
	codeLocked     = 160005
)

// isCode reports whether an error is one of the API with a code.
func isCode(err error, code int) bool {
	re, ok := errors.AsType[*discordgo.RESTError](err)
	return ok && re.Message != nil && re.Message.Code == code
}
