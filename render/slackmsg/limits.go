// Package slackmsg writes cards as Slack messages and modals, in Slack's own
// block types. It is pure; see package render.
package slackmsg

import "github.com/nodbridge/nod/render"

// Slack's limits, counted in characters of the text as it is sent. Sources:
// docs.slack.dev (reference/block-kit, methods/chat.postMessage, methods/views.open)
// unless another is named.
const (
	maxHeader       = 150
	maxButton       = 75
	maxSection      = 3000 // text of a section
	maxHomeText     = 300  // of a request in the Home tab, so that all fit on a phone
	maxOption       = 75   // text and description of an option
	maxLabel        = 2000 // of an input block
	maxPlaceholder  = 150
	maxInitial      = 3000    // of a text input; no figure is published, its max_length is
	maxRadio        = 10      // options of radio_buttons and checkboxes
	maxSelect       = 100     // options of a select, and of one of its groups
	maxActions      = 25      // elements of an actions block
	maxModalBlocks  = 100     // blocks of a view
	maxModalTitle   = 24      // also submit and close
	maxView         = 250_000 // bytes of a view
	maxNotice       = 3000    // top-level text; chat.update refuses more than 4,000
	maxInline       = 25      // options shown in the message itself; more go to a modal
	maxMessage      = 12_000  // all blocks together; measured by others at about 13,200, nothing is published
	maxPart         = 8_000   // text of one message of a full delivery, as wireCost counts
	maxParts        = 20      // messages of a full delivery; more is refused
	maxModalContext = 2_500   // text of the prompt repeated in a modal
	maxNesting      = 6
)

// cost is how Slack counts text: in characters, with &, < and > as entities.
// The longer of the two usual counts is taken.
func cost(s string) int {
	n := render.UTF16(s)
	for _, r := range s {
		switch r {
		case '&':
			n += 4
		case '<', '>':
			n += 3
		}
	}
	return n
}

// wireCost is cost with what JSON escapes counted twice, as the size of a whole
// message has it.
func wireCost(s string) int {
	n := cost(s)
	for _, r := range s {
		switch r {
		case '"', '\\', '\n', '\t':
			n++
		}
	}
	return n
}
