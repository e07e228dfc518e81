// Package discordmsg writes cards as Discord messages and modals. It is pure;
// see package render.
//
// The SDK's types serve where they know the component. It lacks everything
// that a modal is made of today (Label, radio and checkbox groups), so those
// have small structs of their own here.
package discordmsg

// Discord's limits, in Unicode code points. Sources: the developer docs'
// message resource ("Embed Limits"), component reference, and interactions.
const (
	maxContent     = 2000
	maxTitle       = 256
	maxDescription = 4096
	maxFooter      = 2048
	maxButton      = 80
	maxRow         = 5 // buttons in a row
	maxButtons     = 25
	maxActionRows  = 5
	maxSelect      = 25
	maxOption      = 100 // label, value and description of an option
	maxPlaceholder = 100 // of a text input; a select takes 150
	maxModalTitle  = 45
	maxModalFields = 5
	maxLabel       = 45
	maxLabelHint   = 100
	minRadio       = 2
	maxGroup       = 10        // options of a radio or checkbox group
	maxFile        = 8_000_000 // bytes; a message may have 25 MiB in all
)
