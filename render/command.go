package render

import "github.com/nodbridge/nod/bridge"

// Command returns the command of an approval, and reports whether exactly this
// command runs: no part of it is redacted or invisible, and no other program
// replaces it.
func Command(i bridge.Interaction) (string, bool) {
	if i.Approval == nil || i.Redacted > 0 || i.RedactedCommand {
		return "", false
	}
	if name := plainName(i.Approval.Tool); !shellTools[name] && name != "" {
		return "", false
	}
	fields := object(i.Approval.Input)
	text, rest := take(fields, "command", "cmd", "argv")
	_, other := rest["program"]
	return text, text != "" && !other && Clean(text) == text
}
