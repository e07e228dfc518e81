package telegram

import "strings"

// clean replaces the control characters of texts, including tabs, by spaces, as
// the server does: github.com/tdlib/td, td/telegram/misc.cpp,
// clean_input_string.
func (a arguments) clean() {
	for _, key := range []string{"text", "caption"} {
		if text, ok := a.values[key].(string); ok {
			a.values[key] = strings.Map(func(r rune) rune {
				if r < ' ' && r != '\n' && r != '\r' {
					return ' '
				}
				return r
			}, text)
		}
	}
}
