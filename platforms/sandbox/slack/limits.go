package slack

import "time"

// Limits in characters, unless a comment names another unit. The comment of
// each group names its page on docs.slack.dev.
const (
	// reference/block-kit: kinds.go has the limits of single blocks and elements
	maxMessageBlocks = 50
	maxViewBlocks    = 100
	maxURL           = 3000
	maxInput         = 3000
	minSeconds       = 1_000_000_000 // a Unix time has 10 digits
	maxSeconds       = 9_999_999_999

	// reference/views/modal-views and reference/methods/views.open
	maxTitle      = 24 // also for submit and close
	maxMetadata   = 3000
	maxCallbackID = 255
	maxView       = 250_000 // bytes of JSON

	// reference/methods/chat.postMessage and reference/methods/chat.update
	maxPostText   = 40_000
	maxUpdateText = 4000
	// maxBlocksSize limits the total size of the blocks of a message. Slack
	// does not publish it. Developers of bots have measured it.
	maxBlocksSize = 13_200

	maxAttachments     = 100
	maxMessageMetadata = 16_000 // bytes of JSON; Slack does not publish it

	// reference/methods/conversations.history and the other lists: default and
	// maximum number of items on a page
	maxHistory = 100
	maxPage    = 1000

	maxStack = 3 // reference/methods/views.push

	// reference/methods/agents.sessions.setStatus
	maxSessionTitle = 200

	// apis/events-api/using-socket-mode
	maxSockets = 10
	maxAck     = 20_480 // bytes of a response in an acknowledgment; Slack silently drops longer ones

	// interactivity/handling-user-interaction
	responseUses = 5
	responseTTL  = 30 * time.Minute
	triggerTTL   = 3 * time.Second // lifetime of a trigger
	answerWithin = 3 * time.Second // time limit for the response to a payload
)

// A tier is the rate limit of a method, in calls per second and size of a
// burst: apis/web-api/rate-limits.
type tier struct{ rate, burst float64 }

var (
	tier2       = tier{20. / 60, 20}
	tier3       = tier{50. / 60, 50}
	tier4       = tier{100. / 60, 100}
	tierPost    = tier{1, 5}    // one per second in a channel, with short bursts
	tierSpecial = tier{10, 100} // auth.test: hundreds per minute
)

// maxPosts is the limit of chat.postMessage in all channels per minute:
// "several hundred".
const maxPosts = 600
