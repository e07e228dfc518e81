package telegram

import "time"

// Limits as core.telegram.org/bots/api publishes them, counted in characters
// unless a line says otherwise, and of the source of the official server,
// github.com/tdlib/telegram-bot-api, where the documents give no figure.
const (
	maxText        = 4096
	maxCaption     = 1024
	maxEntities    = 100
	maxPlaceholder = 64
	maxRow         = 8   // buttons of a row
	maxButtons     = 100 // of a keyboard
	maxKeyboard    = 10_000
	maxData        = 64 // bytes of callback data
	maxToast       = 200
	maxSecret      = 256
	maxUpdates     = 100 // of one getUpdates
	maxPoll        = 50  // seconds of one getUpdates

	// How long things wait in the queue of updates.
	callbackTTL = 150 * time.Second
	messageTTL  = 24 * time.Hour
	queryTTL    = time.Minute // answers later than this are refused; reports differ
	patience    = 10 * time.Second
)

// A rate is how many messages a second, and how many at once; edits count as
// messages: core.telegram.org/bots/faq.
type rate struct{ perSecond, burst float64 }

var (
	globalRate  = rate{30, 30}
	groupRate   = rate{20. / 60, 20}
	privateRate = rate{1, 10}
)
