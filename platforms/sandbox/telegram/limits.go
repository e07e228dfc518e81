package telegram

import "time"

// Limits in characters, unless a comment names another unit. The source is
// core.telegram.org/bots/api. If it gives no figure, the source is the code of
// the official server, github.com/tdlib/telegram-bot-api.
const (
	maxText        = 4096
	maxRaw         = 1 << 15 // bytes of a text before parsing
	maxCaption     = 1024
	maxEntities    = 100
	maxPlaceholder = 64
	maxRow         = 8   // buttons of a row
	maxButtons     = 100 // of a keyboard
	maxKeyboard    = 10_000
	maxData        = 64 // bytes of callback data
	maxCopied      = 256
	maxToast       = 200
	maxCommands    = 100
	maxCommand     = 32
	maxDescription = 256
	maxSecret      = 256
	maxUpdates     = 100 // of one getUpdates
	maxPoll        = 50  // seconds of one getUpdates

	// quiet is the time without an update after which the next one may have any
	// number. An offset that is more than maxAhead ahead counts as none.
	quiet    = 7 * 24 * time.Hour
	maxAhead = 10

	// Lifetimes of updates and queries.
	callbackTTL = 150 * time.Second
	messageTTL  = 24 * time.Hour
	queryTTL    = time.Minute // later answers are refused; reports of the time differ
	patience    = 10 * time.Second
	privateTTL  = 15 * time.Second // after a click; for bots that are not administrators
)

// A rate is a rate limit, in messages in any period. Edits count as messages:
// core.telegram.org/bots/faq.
type rate struct {
	calls  int
	period time.Duration
}

var (
	globalRate  = rate{30, time.Second}
	groupRate   = rate{20, time.Minute}
	privateRate = rate{10, 10 * time.Second}
)
