package telegram

import "time"

// Limits in characters, unless a comment names another unit. The source is
// core.telegram.org/bots/api. If that page does not state a limit, the source
// is the code of the official server, github.com/tdlib/telegram-bot-api.
const (
	maxText        = 4096
	maxRaw         = 1 << 15 // bytes of a text before parsing
	maxCaption     = 1024
	maxEntities    = 100
	maxPlaceholder = 64
	maxRow         = 8   // buttons in a row
	maxButtons     = 100 // buttons in a keyboard
	maxKeyboard    = 10_000
	maxData        = 64 // bytes of callback data
	maxCopied      = 256
	maxToast       = 200
	maxCommands    = 100
	maxCommand     = 32
	maxDescription = 256
	maxSecret      = 256
	maxUpdates     = 100 // updates in a response to getUpdates
	maxPoll        = 50  // seconds of a call of getUpdates

	// quiet is the time without an update after which the next update may have
	// any number. An offset that is more than maxAhead ahead is ignored.
	quiet    = 7 * 24 * time.Hour
	maxAhead = 10

	// Lifetimes of updates and queries.
	callbackTTL = 150 * time.Second
	messageTTL  = 24 * time.Hour
	queryTTL    = time.Minute // later answers are refused; reports of the limit differ
	patience    = 10 * time.Second
	privateTTL  = 15 * time.Second // time after a click; applies to bots that are not administrators
)

// A rate is a rate limit: a number of messages in any period. Edits count as
// messages: core.telegram.org/bots/faq.
type rate struct {
	calls  int
	period time.Duration
}

var (
	globalRate  = rate{30, time.Second}
	groupRate   = rate{20, time.Minute}
	privateRate = rate{10, 10 * time.Second}
)
