package discord

import (
	"time"
)

// Limits in code points, unless a comment names another unit. The comment of
// each group names its page on docs.discord.com.
const (
	// resources/message
	maxContent         = 2000
	maxEmbeds          = 10
	maxEmbedsText      = 6000 // all embeds together
	maxEmbedTitle      = 256  // also for the names of authors and fields
	maxEmbedText       = 4096
	maxEmbedFooter     = 2048
	maxEmbedFields     = 25
	maxEmbedFieldValue = 1024
	maxColor           = 0xffffff
	maxNonce           = 25
	maxMentions        = 100 // users or roles in allowed_mentions

	// components/reference
	maxRows              = 5 // action rows of a message without layout components, or of a modal
	maxRow               = 5 // buttons in an action row
	maxCustomID          = 100
	maxButton            = 80
	maxURL               = 512
	maxPlaceholder       = 150
	maxOptions           = 25
	maxOption            = 100 // label, value and description
	maxRadio             = 10  // options of a radio or checkbox group
	maxInput             = 4000
	maxInputPlaceholder  = 100
	maxLabel             = 45
	maxLabelDescription  = 100
	maxModalTitle        = 45
	maxTextDisplay       = 4000
	maxComponents        = 40 // components of a message, including nested ones
	maxSectionTexts      = 3
	maxComponentID       = 1<<31 - 1
	maxComponentsText    = 4000
	maxComponentsTextRaw = 10170 // bytes; the service fails above this: discord/discord-api-docs#8554

	// resources/channel and interactions/application-commands
	maxThreadName         = 100
	maxCommandDescription = 100
	maxCommandOptions     = 25
	maxCommands           = 100
	maxSuggestions        = 25

	// interactions/receiving-and-responding
	responseTTL = 3 * time.Second
	tokenTTL    = 15 * time.Minute

	// events/gateway
	defaultHeartbeat = 41250 * time.Millisecond
	defaultStarts    = 1000 // gateway sessions
	defaultStartsPer = 24 * time.Hour
	maxFrame         = 4096 // bytes; a larger payload ends the connection with 4002
	replayed         = 500  // events kept for a resume; Discord does not publish the number
)

// A rate is a rate limit: a number of requests in any period. Source:
// topics/rate-limits.
type rate struct {
	calls  int
	period time.Duration
}

var (
	globalRate = rate{50, time.Second}
	routeRate  = rate{5, 5 * time.Second} // a route in a channel; Discord sends it in headers
	startRate  = rate{1, 5 * time.Second} // gateway sessions; max_concurrency
)
