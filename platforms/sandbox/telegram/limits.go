package telegram

import (
	"strconv"
	"strings"
	"time"
)

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

// Versions of the Bot API that introduced a feature: 905 is 9.5. The source is
// core.telegram.org/bots/api-changelog.
const (
	expandableQuotes = 704
	copyButtons      = 711
	styledButtons    = 904
	dates            = 905
	privateMessages  = 1003 // with ephemeral_message_parameters
	disabledButtons  = 1003
	keyboardReplies  = 1003 // force_reply in an inline keyboard
	newest           = 1003
)

// server returns the version of the server. The fault old_server lowers it to
// the version in Method, such as 9.4.
func (e *Emulator) server() int {
	e.Lock()
	defer e.Unlock()
	version := newest
	for _, name := range e.Named("old_server") {
		major, minor, _ := strings.Cut(name, ".")
		m, err := strconv.Atoi(major)
		if err != nil {
			continue
		}
		n, err := strconv.Atoi(minor)
		if err == nil {
			version = min(version, 100*m+n)
		}
	}
	return version
}
