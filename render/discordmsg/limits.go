// Package discordmsg writes cards as Discord messages and modals. It is pure;
// see package render.
//
// Everything that a person decides on is in Components V2: unlike an embed,
// they need no permission of the bot and no setting of the reader to be shown.
//
// The SDK's types serve where they know the component. It lacks everything
// that a modal is made of today (Label, radio and checkbox groups), so those
// have small structs of their own here.
package discordmsg

// Discord's limits, in Unicode code points. Sources: the developer docs'
// message resource and component reference.
const (
	maxPush         = 2000 // the text of a message without components
	maxText         = 4000 // of all text displays of a message together
	maxTextBytes    = 9800 // of the same; from about 10,170 on Discord answers 500
	maxComponents   = 40   // of a message, nested ones included
	maxTitle        = 256
	maxButton       = 80
	maxRow          = 5 // buttons in a row
	maxButtons      = 25
	maxSelect       = 25
	maxOption       = 100 // label, value and description of an option
	maxPlaceholder  = 100 // of a text input; a select takes 150
	maxModalTitle   = 45
	maxModalFields  = 5
	maxModalContext = 1500 // of the request in a modal; not a limit of Discord
	maxLabel        = 45
	maxLabelHint    = 100
	minRadio        = 2
	maxGroup        = 10        // options of a radio or checkbox group
	maxFile         = 8_000_000 // bytes; a message may have 25 MiB in all
)
