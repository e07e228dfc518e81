package telegram

import (
	"strconv"
	"strings"
)

// Versions of the Bot API that introduced a feature: 905 is 9.5. The source is
// core.telegram.org/bots/api-changelog.
const (
	expandableQuotes = 704
	copyButtons      = 711
	styledButtons    = 904
	dates            = 905
	privateMessages  = 1003 // with ephemeral_message_parameters
	disabledButtons  = 1003
	keyboardReplies  = 1003 // force_reply in an inline keyboard
	newest           = 1003
)

// server returns the version of the server. The fault old_server lowers it to
// the version in Method, such as 9.4.
func (b *bot) server() int {
	b.Lock()
	defer b.Unlock()
	version := newest
	for _, name := range b.Named("old_server") {
		major, minor, _ := strings.Cut(name, ".")
		m, err := strconv.Atoi(major)
		if err != nil {
			continue
		}
		n, err := strconv.Atoi(minor)
		if err == nil {
			version = min(version, 100*m+n)
		}
	}
	return version
}
