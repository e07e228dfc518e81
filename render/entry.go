package render

import "strings"

// Labels of buttons that open a card. Other links show their address.
const (
	LabelOpen      = "Open request"
	LabelOpenNewer = "Open the newer request"
)

// entryEnd comes before the address at the end of a line of pending requests.
const entryEnd = " left) "

// Entry splits a line of a list of pending requests into its text and the
// address of its card. The address is empty if the line has none. The agent's
// words come before the remaining time, so an agent cannot choose the address.
func Entry(line string) (text, address string) {
	n := strings.LastIndex(line, entryEnd)
	if n < 0 {
		return line, ""
	}
	text, address = line[:n+len(entryEnd)-1], line[n+len(entryEnd):]
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") || strings.ContainsAny(address, " \n") {
		return line, ""
	}
	return text, address
}
