package codex

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// report returns what an event says about its session, or nil for an event that
// says nothing.
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
