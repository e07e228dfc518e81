package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
)

// unshown is the error for an input that nod cannot read exactly, or cannot
// show.
type unshown struct{ error }

func (u unshown) Unwrap() error { return u.error }

// whyUnasked returns why no person decided, without a period. A hook that was
// interrupted may have asked people before.
func whyUnasked(cause error) string {
	text := visible.Line(bridge.PublicText(cause))
	if _, ok := errors.AsType[cli.Interruption](cause); ok {
		return "nod was " + text + " before anyone answered"
	}
	if _, ok := errors.AsType[relay.Withdrawal](cause); ok || errors.Is(cause, context.DeadlineExceeded) && bridge.ErrorCode(cause) == bridge.CodeInternal {
		return "nod stopped waiting: " + text
	}
	return "nod could not ask anyone: " + text
}

// failed reports an error in the format that the event requires.
func (h *call) failed(ctx context.Context, cmd *cobra.Command, cause error) error {
	event := h.in.Event()
	why := whyUnasked(cause)
	if h.fail == "open" && client.Outage(cause) && h.unreachable(ctx) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s; continuing without nod (--fail open)\n", why)
		return say(cmd.OutOrStdout(), h.agent.Decides(event), []byte("{}"), 0)
	}
	out, stop := h.unasked(ctx, cause, why+". No person has denied it.")
	answer, err := dialect.Encode(out)
	if err != nil {
		return cli.ExitError(Blocks)
	}
	code, tell := Blocks, why+"; blocked"
	switch {
	case claudecode.LeavesToTerminal(out):
		code, tell = 0, why+"; the terminal asks" // code 2 would deny the request
	case string(answer) == "{}" && event == h.agent.Permission:
		code, tell = 0, why+"; the terminal asks"
	case string(answer) == "{}":
		code, tell = undecided, why+"; nothing was decided"
	case event == h.agent.Permission:
		code = 0 // the output denies the request
	}
	switch {
	case stop != nil:
		tell = why + "; blocked, because the session is " + stop.Words()
	case h.fail == "open" && code == Blocks:
		tell += ", because --fail open applies only if the daemon is unreachable"
	case code == Blocks:
		tell += " (--fail closed)"
	}
	fmt.Fprintln(cmd.ErrOrStderr(), visible.Line(tell))
	return say(cmd.OutOrStdout(), h.agent.Decides(event), answer, code)
}

// probeTime limits the time of the calls that find out whether there is a daemon.
const probeTime = 5 * time.Second

// unreachable reports whether no daemon can be reached with a call that has
// nothing of the agent in it, or the daemon itself says that it is down. An agent
// could choose a text at which a server in front of the daemon ends the
// connection.
func (h *call) unreachable(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	if err := h.client.Reachable(ctx); err != nil {
		return client.Outage(err)
	}
	var health map[string]any
	healthy, err := h.client.Health(ctx, false, &health)
	return err == nil && !healthy // a proxy may not forward the call
}

// unasked returns the output of a hook if no person has decided on its request.
// If the reason is a stopped session, it also returns the stop.
func (h *call) unasked(ctx context.Context, cause error, why string) (any, *bridge.Stop) {
	event := h.in.Event()
	u := dialect.Unasked{Gate: event == "PreToolUse", Attended: h.agent.Attended(h.in, h.origin)}
	_, u.Unshown = errors.AsType[unshown](cause)
	if u.Leaves() && bridge.ErrorCode(cause) != bridge.CodeUnavailable {
		stop, err := h.stop(ctx)
		if stop != nil {
			return h.agent.Stopped(event, *stop), stop
		}
		u.Stopped = err != nil && u.Gate
	}
	return h.agent.Unasked(event, u, why), nil
}

// stop returns the stop of the session in the input, if any.
func (h *call) stop(ctx context.Context) (*bridge.Stop, error) {
	c := h.client
	if c == nil {
		var err error
		if c, err = caller.New(h.url); err != nil {
			return nil, err
		}
	}
	c.Patience, c.FirstPatience = h.reportTime/3, 0
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.reportTime) // a signal may have ended ctx
	defer cancel()
	for _, session := range h.in.Sessions() {
		if stop, err := c.Stopped(ctx, session); err != nil || stop != nil {
			return stop, err
		}
	}
	return nil, nil //nolint:nilnil // documented above
}
