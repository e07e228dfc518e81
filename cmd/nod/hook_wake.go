package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/render"
)

const (
	// wakeSettle is the time in which a hook at the end of the turn may take the
	// messages, and wakeConfirm the time for which a message must then wait.
	wakeSettle, wakeConfirm = time.Second, 300 * time.Millisecond
	// wakeClaimCheck is the time between two checks whether the agent is still
	// idle, and wakePoll the time for which nod waits for messages at once.
	wakeClaimCheck, wakePoll = 500 * time.Millisecond, 30 * time.Second
	// wakeRetry is the time between two attempts to reach the daemon.
	wakeRetry = 3 * time.Second
	// entrypointEnv is the variable in which Claude Code tells its hooks how it was
	// started, and terminalEntry its value in a session at a terminal. claude -p
	// would wait for the hook before it ends.
	entrypointEnv, terminalEntry = "CLAUDE_CODE_ENTRYPOINT", "cli"
)

// wakeText is the text with which the agent is woken. The message itself comes
// from the hook that watches prompts, as do all messages.
const wakeText = "A person has written to this session in chat. nod adds the message to the context of this prompt."

// wakeSession waits until a person writes to an idle session, and then wakes its
// agent by exit code 2. It takes no message: waking leads to a prompt, at which
// the hook with --watch passes on the messages, each once and in order.
func (f hookFlags) wakeSession(cmd *cobra.Command) error {
	ctx, unwatch := untilUnread(cmd.Context(), cmd.OutOrStdout())
	defer unwatch()
	in := dialect.NewHookInput(claudecode.Reports)
	_, err := io.Copy(in, cmd.InOrStdin())
	w, watched := claudecode.Watched(in)
	if err != nil || !watched || w.Event != "Stop" || os.Getenv(entrypointEnv) != terminalEntry {
		return nil
	}
	c, err := (&connection{url: f.url}).client()
	var claim idleClaim
	if err == nil {
		claim, err = claimIdle(w.Session)
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod cannot wake the session: %s\n", render.Line(bridge.PublicText(err)))
		return nil
	}
	defer claim.release()
	ctx, stop := claim.hold(ctx)
	defer stop()
	if !wanted(ctx, c, w.Session) {
		return nil
	}
	fmt.Fprintln(cmd.ErrOrStderr(), wakeText)
	return exitError(hookBlocks)
}

// wanted waits until a message waits for a session that no hook takes. It
// returns false once ctx ends.
func wanted(ctx context.Context, c *client.Client, session string) bool {
	for bridge.Pause(ctx, wakeSettle) {
		waits, err := c.MessagesWait(ctx, session, wakePoll)
		if err == nil && waits && bridge.Pause(ctx, wakeConfirm) {
			waits, err = c.MessagesWait(ctx, session, 0)
			if err == nil && waits && ctx.Err() == nil {
				return true
			}
		}
		if err != nil {
			bridge.Pause(ctx, wakeRetry)
		}
	}
	return false
}

// idleClaim is the mark that one process waits to wake a session. The process
// of the next turn takes it over, and any step of the agent removes it.
type idleClaim struct{ path, owner string }

// idlePath returns the file of the claim on a session.
func idlePath(session string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(dir, "nod", "idle-"+hex.EncodeToString(sum[:12])), nil
}

// claimIdle takes the claim on a session.
func claimIdle(session string) (idleClaim, error) {
	path, err := idlePath(session)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	claim := idleClaim{path, uuid.NewString()}
	if err == nil {
		err = os.WriteFile(path, []byte(claim.owner), 0o600)
	}
	if err != nil {
		return claim, bridge.Wrap(bridge.CodeUnavailable, err, "cache folder")
	}
	return claim, nil
}

// held reports whether no one else has taken or removed the claim.
func (c idleClaim) held() bool {
	raw, err := os.ReadFile(c.path)
	return err == nil && string(raw) == c.owner
}

// hold returns a context that ends when the claim does.
func (c idleClaim) hold(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for c.held() && bridge.Pause(ctx, wakeClaimCheck) {
		}
		cancel()
	}()
	return ctx, cancel
}

// release removes the claim unless another process has it.
func (c idleClaim) release() {
	if c.held() {
		_ = os.Remove(c.path) // otherwise, the next turn replaces it
	}
}

// notIdle removes the claim on a session, whose agent works again.
func notIdle(session string) {
	if path, err := idlePath(session); err == nil {
		_ = os.Remove(path) // usually there is none
	}
}
