// Package slackmsg writes cards as Slack messages and modals, in Slack's own
// block types. It is pure; see package render. Start with message.go.
package slackmsg

// Slack's limits, in characters of the text that is sent, unless a comment
// names another unit. The source is docs.slack.dev (reference/block-kit,
// methods/chat.postMessage, methods/views.open), unless a comment names another
// source.
const (
	maxHeader       = 150
	maxButton       = 75
	maxSection      = 3000 // text of a section
	maxOption       = 75   // text and description of an option
	maxLabel        = 2000 // input block
	maxPlaceholder  = 150
	maxInitial      = 3000    // text input; Slack publishes only the limit of max_length
	maxRadio        = 10      // options of radio_buttons and checkboxes
	maxSelect       = 100     // options of a select, and of one of its groups
	maxOverflow     = 5       // options of an overflow menu
	maxActions      = 25      // elements of an actions block
	maxViewBlocks   = 100     // blocks of a modal or a Home tab
	maxModalTitle   = 24      // also for submit and close
	maxView         = 250_000 // bytes of a view
	maxNotice       = 3000    // top-level text; chat.update refuses more than 4,000
	maxInline       = 25      // options shown in the message itself; more go to a modal
	maxMessage      = 12_000  // all blocks together; unpublished, other projects measured about 13,200
	maxBlock        = 8_000   // one block of a long text; Slack publishes no limit
	maxMetadata     = 300     // nod's own modals; Slack accepts 3,000
	maxModalContext = 2_500   // request in a modal that only denies
	maxExcerpt      = 1_500   // request that does not fit the card
	excerptLines    = 8       // code block in an excerpt
	maxNesting      = 6
)

// Limits of the texts of a confirmation dialog.
const (
	maxConfirmTitle  = 100
	maxConfirmText   = 300
	maxConfirmButton = 30
)

// cost returns the length of a text in Slack's way of counting: in characters,
// with &, < and > as entities. It counts UTF-16 units, which are never fewer
// than code points.
func cost(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r == '&':
			n += len("&amp;")
		case r == '<', r == '>':
			n += len("&lt;")
		case r > 0xffff:
			n += 2
		default:
			n++
		}
	}
	return n
}

// wireCost returns the cost of a text in the size of a message, where
// characters that JSON escapes count twice.
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
