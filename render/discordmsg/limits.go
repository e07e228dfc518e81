// Package discordmsg writes cards as Discord messages and modals. It is pure;
// see package render.
//
// A card shows everything that a person decides on in Components V2. Unlike an
// embed, components require no permission of the bot and no setting of the
// reader.
//
// The SDK's types are used if the SDK has the component. It lacks the parts of
// modals (Label, radio and checkbox groups), so this package has small structs
// for them. Start with message.go.
package discordmsg

// Discord's limits, in Unicode code points. The source is the developer
// documentation: message resource and component reference.
const (
	maxPush         = 2000 // the text of a message without components
	maxText         = 4000 // all text displays of a message together
	maxTextBytes    = 9800 // all text displays of a message; from about 10,170 Discord responds with 500
	maxComponents   = 40   // components of a message, including nested ones
	maxTitle        = 256
	maxButton       = 80
	maxRow          = 5 // buttons in a row
	maxButtons      = 25
	maxSelect       = 25
	maxOption       = 100 // label, value and description of an option
	maxPlaceholder  = 100 // text input; the placeholder of a select can have 150
	maxModalTitle   = 45
	maxModalFields  = 5
	maxModalContext = 1500 // request in a modal; not a limit of Discord
	maxLabel        = 45
	maxLabelHint    = 100
	minRadio        = 2
	maxGroup        = 10        // options of a radio or checkbox group
	maxFile         = 8_000_000 // bytes; all files of a message may have 25 MiB
)
