package broker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// reports implements bridge.Reports.
type reports struct{ *core }

// subagentField starts the fields with the names of subagents.
const subagentField = "sub:"

// messageField is the field with the interaction whose messages show a session.
const messageField = "message"

// PutReport implements bridge.Reports.
func (rs *reports) PutReport(
	ctx context.Context, agent, session string, r bridge.SessionReport,
) (bridge.SessionStatus, bool, error) {
	urgent, err := rs.merge(ctx, agent, session, r,
		"title", r.Title, "host", r.Host, "folder", r.Folder, "branch", r.Branch, "waits", r.Waits, "last", r.Last,
		"route", r.Route, subagentField+r.SubagentID, r.Subagent)
	if err != nil {
		return bridge.SessionStatus{}, false, err
	}
	s, _, err := rs.Reported(ctx, agent, session)
	return s, urgent, err
}

// merge runs report.lua with the names and values of fields. It returns
// CodeNotFound for an update of an unknown session.
func (rs *reports) merge(ctx context.Context, agent, session string, r bridge.SessionReport, fields ...string) (bool, error) {
	if err := requireSession(session); err != nil {
		return false, err
	}
	at := int64(0)
	if !r.At.IsZero() {
		at = r.At.UnixMilli()
	}
	key := rs.keys.report(agent, session)
	args := []any{
		agent + ownerMark + session, bridge.ReportedTTL.Milliseconds(), bridge.MaxReported, at, string(r.State), r.Prompt, r.Step,
		flag(!r.Update),
	}
	for n := 0; n < len(fields); n += 2 {
		if fields[n+1] != "" {
			args = append(args, fields[n], fields[n+1])
		}
	}
	reply, err := rs.run(ctx, rs.scripts.report, []string{key, rs.keys.reported()}, args...).StringSlice()
	if err != nil {
		return false, unavailable(err)
	}
	if reply[0] == "missing" {
		return false, bridge.Errorf(bridge.CodeNotFound, "session %q not found", session)
	}
	rs.forget(ctx, reply[1:])
	return reply[0] == "1", nil
}

// forget deletes the statuses of sessions that are too many. A failure leaves
// them until they expire.
func (rs *reports) forget(ctx context.Context, owners []string) {
	for _, owner := range owners {
		agent, session, _ := strings.Cut(owner, ownerMark)
		if err := rs.client.Del(ctx, rs.keys.report(agent, session)).Err(); err != nil {
			rs.log.Warn("status of an old session not deleted", "agent", agent, "session", session, "error", err)
		}
	}
}

// PutSessionMessage implements bridge.Reports.
func (rs *reports) PutSessionMessage(ctx context.Context, agent, session string, id bridge.ID) (bool, error) {
	_, err := rs.merge(ctx, agent, session, bridge.SessionReport{Update: true}, messageField, string(id))
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// Reported implements bridge.Reports.
func (rs *reports) Reported(ctx context.Context, agent, session string) (bridge.SessionStatus, bool, error) {
	if session == "" {
		return bridge.SessionStatus{}, false, nil
	}
	fields, err := rs.client.HGetAll(ctx, rs.keys.report(agent, session)).Result()
	if err != nil {
		return bridge.SessionStatus{}, false, unavailable(err)
	}
	s, ok := decodeReported(agent, session, fields)
	return s, ok, nil
}

// ListReported implements bridge.Reports.
func (rs *reports) ListReported(ctx context.Context, agent string) ([]bridge.SessionStatus, error) {
	owners, err := rs.client.ZRevRange(ctx, rs.keys.reported(), 0, bridge.MaxReported-1).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	type found struct {
		agent, session string
		fields         *redis.MapStringStringCmd
	}
	var all []found
	_, err = rs.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, owner := range owners {
			who, session, _ := strings.Cut(owner, ownerMark)
			if agent == "" || who == agent {
				all = append(all, found{who, session, pipe.HGetAll(ctx, rs.keys.report(who, session))})
			}
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	var out []bridge.SessionStatus
	for _, f := range all {
		if s, ok := decodeReported(f.agent, f.session, f.fields.Val()); ok {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b bridge.SessionStatus) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// decodeReported returns the status in the fields of a hash. It returns false
// for a hash that only a late write left.
func decodeReported(agent, session string, f map[string]string) (bridge.SessionStatus, bool) {
	if f["started"] == "" {
		return bridge.SessionStatus{}, false
	}
	at := func(name string) time.Time {
		n, err := strconv.ParseInt(f[name], 10, 64)
		if err != nil {
			return time.Time{}
		}
		return time.UnixMilli(n).UTC()
	}
	steps, _ := strconv.Atoi(f["steps"]) // absent if there was none
	s := bridge.SessionStatus{
		Agent: agent, ID: session, State: bridge.SessionState(f["state"]), Title: f["title"], Host: f["host"], Folder: f["folder"],
		Branch: f["branch"], Step: f["step"], Steps: steps, Waits: f["waits"], Last: f["last"], Route: f["route"],
		Started: at("started"), Since: at("since"), Stepped: at("stepped"), Updated: at("updated"), Message: bridge.ID(f[messageField]),
	}
	for name, value := range f {
		if id, ok := strings.CutPrefix(name, subagentField); ok {
			if s.Subagents == nil {
				s.Subagents = map[string]string{}
			}
			s.Subagents[id] = value
		}
	}
	return s, true
}
