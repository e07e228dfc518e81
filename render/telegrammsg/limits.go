// Package telegrammsg writes cards as Telegram messages. It is pure; see
// package render.
//
// The SDK speaks Bot API 5.5, which has neither button styles nor much else
// that is used here, so keyboards have small structs of their own.
package telegrammsg

// Telegram's limits. Sources: core.telegram.org/bots/api, the official
// server's and TDLib's source where it is silent.
const (
	maxText     = 4096      // code points, after entities are parsed
	maxEntities = 100       // more are dropped by the server
	maxButton   = 60        // code points; no figure is published, longer ones are cut on phones
	maxPerRow   = 8         // buttons; 12 are said to work
	perPage     = 10        // options shown at once
	maxInTwo    = 18        // of a label in a row of two
	maxInThree  = 12        // of a label in a row of three
	maxLines    = 12        // of a request on a closed card that is not collapsed
	maxCopied   = 256       // of a text that a button copies
	maxFile     = 8_000_000 // bytes; the server takes 50 MB
	maxNote     = 200       // answerCallbackQuery

	usualText     = 1024 // bytes of the text of most cards
	usualEntities = 16   // of most cards

	maxPlaceholder = 64
	maxAsked       = 500 // of a question in a prompt, as the card has it too
)
