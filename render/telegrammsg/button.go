package telegrammsg

import (
	"fmt"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Entity is a format of a part of a text, or its meaning. Offset and Length
// count UTF-16 units.
type Entity struct {
	Type     string         `json:"type"`
	Offset   int            `json:"offset"`
	Length   int            `json:"length"`
	User     *tgbotapi.User `json:"user,omitempty"`     // for text_mention
	Language string         `json:"language,omitempty"` // for pre
	URL      string         `json:"url,omitempty"`      // for text_link
	UnixTime int64          `json:"unix_time,omitempty"`
	Format   string         `json:"date_time_format,omitempty"`
}

// Types of entities that older servers refuse.
const (
	dateTime  = "date_time"
	longQuote = "expandable_blockquote"
)

// Button is a button of an inline keyboard. It has exactly one of Data, Copy
// and Disabled, because servers ignore all but the first.
type Button struct {
	Text     string    `json:"text"`
	Data     string    `json:"callback_data,omitempty"`
	URL      string    `json:"url,omitempty"`
	Copy     *Copied   `json:"copy_text,omitempty"`
	Disabled *struct{} `json:"disabled,omitempty"`
	Style    string    `json:"style,omitempty"` // primary, success or danger; ignored by older servers and clients
	instead  string    // Data for a server without disabled buttons
}

// Copied is the text that a button copies.
type Copied struct {
	Text string `json:"text"`
}

func copying(label, text string) Button { return Button{Text: label, Copy: &Copied{text}} }

// disabled returns a button that does nothing. On a server without disabled
// buttons, a click sends the data instead.
func disabled(label, instead string) Button {
	return Button{Text: label, Disabled: &struct{}{}, instead: instead}
}

// pager returns the buttons that turn the pages of a list. The buttons for the
// previous and the next page are always in the same position.
func pager(v bridge.View, n, page, pages int) []Button {
	this := v.Token(bridge.ActionPage, n, page)
	back, next := disabled("‹", this), disabled("›", this)
	if page > 0 {
		back = Button{Text: "‹ " + render.LabelBack, Data: v.Token(bridge.ActionPage, n, page-1)}
	}
	if page < pages-1 {
		next = Button{Text: render.LabelNext + " ›", Data: v.Token(bridge.ActionPage, n, page+1)}
	}
	return []Button{back, {Text: fmt.Sprintf("%d of %d", page+1, pages), Data: this}, next}
}
