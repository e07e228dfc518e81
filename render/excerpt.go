package render

// Excerpt returns the start of a document that is too long: unchanged blocks,
// and the first part of the block that does not fit. What an agent says stays in
// its quote, of which a long one leaves room for what is decided. Size measures
// blocks, and unit their text.
func Excerpt(doc []Block, limit int, size func([]Block) int, unit Unit) []Block {
	var out []Block
	for n, b := range doc {
		room := limit - size(out)
		if b.Kind == Quote {
			b = cutQuote(b, min(room, limit/3), size, unit)
		}
		if size(append(out[:n:n], b)) <= limit {
			out = append(out, b)
			continue
		}
		around := size([]Block{{Kind: Code, Text: "x", Lang: b.Lang}}) - 1
		if b.Kind != Code {
			b = Block{Kind: Code, Text: PlainText(doc[n:])}
		}
		if b.Text = Cut(b.Text, room-around-1, unit); b.Text == "" {
			return out
		}
		return append(out, b)
	}
	return out
}

// cutQuote returns a quote within limit.
func cutQuote(b Block, limit int, size func([]Block) int, unit Unit) Block {
	if size([]Block{b}) <= limit {
		return b
	}
	around := size([]Block{{Kind: Quote, Inner: []Block{Para("x")}}}) - 1
	return Block{Kind: Quote, Inner: []Block{Para(Cut(Line(PlainText(b.Inner)), limit-around, unit))}}
}
