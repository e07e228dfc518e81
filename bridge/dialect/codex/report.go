package codex

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// report returns the status of the session in an event, or nil if the event
// contains none.
func (in hookInput) report() *dialect.Report {
	r := dialect.Report{Session: in.Session, SessionReport: bridge.SessionReport{Folder: in.Cwd}}
	switch in.Event {
	case "PermissionRequest", "PreToolUse":
	case "PostToolUse":
		r.State, r.Step = bridge.SessionWorking, dialect.Step(in.Tool, in.Input)
	case "Stop":
		r.State, r.Waits, r.Last = bridge.SessionWaiting, "your next message", in.Last
	default:
		return nil
	}
	if r.Session == "" {
		return nil
	}
	return &r
}
