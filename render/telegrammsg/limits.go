// Package telegrammsg writes cards as Telegram messages. It is pure; see
// package render.
//
// The SDK supports Bot API 5.5, which has no button styles and lacks other
// features that nod uses. This package therefore has its own structs for
// keyboards. Start with message.go.
package telegrammsg

// Telegram's limits. The sources are core.telegram.org/bots/api and, for limits
// that it does not state, the code of the official server and of TDLib.
const (
	maxText     = 4096      // code points, after entities are parsed
	maxEntities = 100       // the server drops more
	maxButton   = 60        // code points; unpublished, and phones cut longer ones
	maxPerRow   = 8         // buttons; others report that 12 work
	perPage     = 10        // options shown at once
	maxInTwo    = 18        // label in a row of two
	maxInThree  = 12        // label in a row of three
	maxLines    = 12        // request on a closed card that is not collapsed
	maxCopied   = 256       // text that a button copies
	maxFile     = 8_000_000 // bytes; the server accepts 50 MB
	maxNote     = 200       // answerCallbackQuery

	usualText     = 1024 // bytes of text in most cards
	usualEntities = 16   // entities in most cards

	maxPlaceholder = 64
	maxAsked       = 500 // question in a prompt, which the card shows too
)
