package telegrammsg

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// Features is a set of message features that older servers refuse.
type Features uint8

// The features, by the version of the Bot API that introduced them.
const (
	DisabledButtons Features = 1 << iota // 10.3
	Dates                                // 9.5
	CopyButtons                          // 7.11
	LongQuotes                           // 7.4
)

// Error texts of older servers, in lower case. The source is the code of the
// official server: github.com/tdlib/telegram-bot-api.
const (
	unknownButton = "text buttons are unallowed in the inline keyboard"
	unknownEntity = "unsupported type specified"
)

// Feature describes one feature.
type Feature struct {
	Features
	Name    string
	Since   string // version of the Bot API
	refusal string
	trial   Message
}

// AllFeatures returns every feature, newest first.
func AllFeatures() []Feature {
	entity := func(kind string) Message {
		return Message{Text: "-", Entities: []Entity{{Type: kind, Length: 1, UnixTime: 1, Format: "dt"}}}
	}
	button := func(b Button) Message { return Message{Text: "-", Keyboard: [][]Button{{b}}} }
	return []Feature{
		{DisabledButtons, "disabled buttons", "10.3", unknownButton, button(disabled("-", ""))},
		{Dates, "times in each person's time zone", "9.5", unknownEntity, entity(dateTime)},
		{CopyButtons, "buttons that copy a command", "7.11", unknownButton, button(copying("-", "-"))},
		{LongQuotes, "collapsed texts on closed cards", "7.4", unknownEntity, entity(longQuote)},
	}
}

// Trial returns a message that only a server with the feature can read. It must
// be sent to a chat that does not exist.
func (f Feature) Trial() Message { return f.trial }

// Refused returns the newest feature of a message that an error refuses. It
// returns false if the error has another cause.
func Refused(err error, used Features) (Feature, bool) {
	if err == nil {
		return Feature{}, false
	}
	said := strings.ToLower(err.Error())
	for _, f := range AllFeatures() {
		if used&f.Features != 0 && strings.Contains(said, f.refusal) {
			return f, true
		}
	}
	return Feature{}, false
}

// Uses returns the features that a message uses.
func (m Message) Uses() Features {
	var used Features
	for _, e := range m.Entities {
		used |= e.uses()
	}
	for _, row := range m.Keyboard {
		for _, b := range row {
			used |= b.uses()
		}
	}
	return used
}

func (e Entity) uses() Features {
	return map[string]Features{dateTime: Dates, longQuote: LongQuotes}[e.Type]
}

func (b Button) uses() Features {
	switch {
	case b.Disabled != nil:
		return DisabledButtons
	case b.Copy != nil:
		return CopyButtons
	}
	return 0
}

// Without returns the message for a server that lacks features. A time becomes
// plain text, a collapsed quote is shortened, copy buttons are removed, and a
// disabled button explains why it does nothing.
func (m Message) Without(off Features) Message {
	if m.Uses()&off == 0 {
		return m
	}
	m.Entities, m.Keyboard = slices.Clone(m.Entities), slices.Clone(m.Keyboard)
	for n := 0; n < len(m.Entities); n++ {
		if off&LongQuotes != 0 && m.Entities[n].Type == longQuote {
			m.Entities[n].Type = "blockquote"
			m.shorten(n)
		}
	}
	m.Entities = slices.DeleteFunc(m.Entities, func(e Entity) bool { return e.uses()&off != 0 || e.Length <= 0 })
	for n, row := range m.Keyboard {
		var kept []Button
		for _, b := range row {
			switch off & b.uses() {
			case CopyButtons:
				continue
			case DisabledButtons:
				b.Data, b.Disabled = b.instead, nil
			}
			kept = append(kept, b)
		}
		m.Keyboard[n] = kept
	}
	m.Keyboard = slices.DeleteFunc(m.Keyboard, func(row []Button) bool { return len(row) == 0 })
	return m
}

// shorten cuts the quote of entity n to maxLines, and moves the text after it.
func (m *Message) shorten(n int) {
	units := utf16.Encode([]rune(m.Text))
	from := m.Entities[n].Offset
	to := from + m.Entities[n].Length
	at, lines := from, 1
	for ; at < to; at++ {
		if units[at] == '\n' {
			if lines == maxLines {
				break
			}
			lines++
		}
	}
	if at == to {
		return
	}
	rest := utf16.Encode([]rune("\n…"))
	moved := to - at - len(rest) // shift of the text after the quote; negative if the text grows
	m.Text = string(utf16.Decode(slices.Concat(units[:at], rest, units[to:])))
	for k := range m.Entities {
		e := &m.Entities[k]
		switch end := e.Offset + e.Length; {
		case e.Offset >= to:
			e.Offset -= moved
		case k == n || end > to:
			e.Length -= moved
		case end > at:
			e.Length = at - e.Offset // within the quote
		}
	}
}
