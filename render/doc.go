// Package render turns a view into text and structure that every chat service
// can show: a [Card], built of [Block]s. It is a pure function of its input:
// no clock, no I/O, no globals. The packages below it write the card in the
// dialect of one service and within that service's limits. Words that appear on
// every service belong here; limits and layout belong in those packages.
//
// All text in a card is plain: whatever came from an agent or a person has
// been cleaned of characters that hide or reorder others, and carries no
// markup. Escaping for a dialect is the dialect writer's duty.
package render

// Block is one part of a document.
type Block struct {
	Kind  BlockKind
	Spans []Span    // Paragraph, Heading
	Text  string    // Code
	Lang  string    // Code; may be empty
	Items [][]Block // List: the blocks of each item
	Start int       // List: first number; 0: bullets
	Inner []Block   // Quote
}

// BlockKind says what a block is.
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
	URL                        string // a link; Text is the URL itself, never another text
	Time                       int64  // Unix seconds, for services that show local time; Text is the fallback
}

// Para is a paragraph of one plain span.
func Para(text string) Block { return Block{Kind: Paragraph, Spans: []Span{{Text: text}}} }
