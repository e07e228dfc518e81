// Package render turns a view into text and structure that every platform can
// show: a [Card] of [Block]s. It is a pure function of its input: no clock, no
// I/O, no globals. The packages below it write the card in the markup of one
// platform and within the limits of that platform. Words that appear on every
// platform belong here. Limits and layout belong in those packages.
//
// All text in a card is plain. Text from an agent or a person contains no
// markup and no characters that hide or reorder others. The package of each
// platform must escape it.
package render

import "github.com/nodbridge/nod/bridge"

// Block is one part of a document.
type Block struct {
	Kind  BlockKind
	Spans []Span    // Paragraph, Heading
	Text  string    // Code
	Lang  string    // Code; may be empty
	Items [][]Block // List: the blocks of each item
	Start int       // List: first number, or 0 for bullets
	Inner []Block   // Quote
}

// BlockKind is the kind of a block.
type BlockKind int

// The kinds of blocks.
const (
	Paragraph BlockKind = iota
	Heading
	Code
	List
	Quote
	Rule
)

// Span is a run of text in one style. Text may hold newlines.
type Span struct {
	Text                       string
	Bold, Italic, Strike, Code bool
	URL                        string // of a link; in an agent's text, Text is the URL itself
	Time                       int64  // Unix seconds, for platforms that show local time; Text is the fallback
	Exact                      bool   // a Time with seconds
	// Mention is the person or group that the text names and that the platform
	// notifies. It is nil for any other text.
	Mention *bridge.Mention
}

// Para returns a paragraph of one plain span.
func Para(text string) Block { return Block{Kind: Paragraph, Spans: []Span{{Text: text}}} }
