package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/config/files"
)

const (
	// wakeSettle is the time in which a hook at the end of a turn may take the
	// messages. After wakeConfirm, a message must still be waiting.
	wakeSettle, wakeConfirm = time.Second, 300 * time.Millisecond
	// wakeClaimCheck is the interval of checks whether another process has
	// taken over, and wakePoll is the duration of one wait for messages.
	wakeClaimCheck, wakePoll = 500 * time.Millisecond, 30 * time.Second
	// wakeRetry is the pause before another attempt to reach the daemon.
	wakeRetry = 3 * time.Second
	// maxClaim limits the size of the claim file, in bytes.
	maxClaim = 1024
	// entrypointEnv is the variable in which Claude Code tells its hooks how it
	// was started. Its value is terminalEntry in a session at a terminal. Other
	// sessions must not wake, because claude -p would wait for the hook before
	// it ends.
	entrypointEnv, terminalEntry = "CLAUDE_CODE_ENTRYPOINT", "cli"
)

// WakeText is the text that wakes the agent. The message itself comes from the
// hook that watches prompts, like all messages.
const WakeText = "A person has written to this session in chat. nod adds the message to the context of this prompt."

// wakeEvents are the events after which a process waits: the start of a
// session, the end of a turn, and a minute of idleness. The last one covers
// turns that end without an event, such as a stopped turn.
var wakeEvents = []string{"SessionStart", "Stop", "Notification"}

// wakeSession waits until a person writes to an idle session, and then wakes
// its agent with exit code 2. It takes no message. The agent then gets a
// prompt, at which the hook with --watch passes on each message once and in
// order. While the agent works, wakeSession only waits.
func (f flags) wakeSession(cmd *cobra.Command) error {
	ctx, unwatch := cli.UntilUnread(cmd.Context(), cmd.OutOrStdout())
	defer unwatch()
	in := dialect.NewHookInput(claudecode.Reports)
	_, err := io.Copy(in, cmd.InOrStdin())
	session, notice := in.Text("session_id"), in.Event() == "Notification"
	if err != nil || session == "" || !slices.Contains(wakeEvents, in.Event()) || os.Getenv(entrypointEnv) != terminalEntry {
		return nil
	}
	if notice && in.Text("notification_type") != "idle_prompt" {
		return nil
	}
	c, err := caller.New(f.url)
	var w waker
	if err == nil {
		w, err = newWaker(session)
	}
	if err == nil && notice { // at other events, the hook that watches knows more
		err = w.mark.put("")
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod cannot wake the session: %s\n", visible.Line(bridge.PublicText(err)))
		return nil
	}
	defer w.release()
	ctx, stop := w.hold(ctx)
	defer stop()
	if !w.wanted(ctx, c) {
		return nil
	}
	fmt.Fprintln(cmd.ErrOrStderr(), WakeText)
	return cli.ExitError(Blocks)
}

// wanted waits until an idle session has a message that no hook takes. It
// returns false after ctx ends.
func (w waker) wanted(ctx context.Context, c *client.Client) bool {
	for bridge.Pause(ctx, wakeSettle) {
		if !w.mark.exists() {
			continue
		}
		waits, err := c.MessagesWait(ctx, w.session, wakePoll)
		if err == nil && waits && bridge.Pause(ctx, wakeConfirm) {
			waits, err = c.MessagesWait(ctx, w.session, 0)
			if err == nil && waits && w.mark.exists() && ctx.Err() == nil {
				return true
			}
		}
		if err != nil {
			bridge.Pause(ctx, wakeRetry)
		}
	}
	return false
}

// note is a small file that the hooks of a session share.
type note struct{ path string }

// noteOf returns a note about a session.
func noteOf(kind, session string) (note, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return note{}, err
	}
	sum := sha256.Sum256([]byte(session))
	return note{filepath.Join(dir, "nod", kind+"-"+hex.EncodeToString(sum[:12]))}, nil
}

func (n note) put(text string) error {
	err := os.MkdirAll(filepath.Dir(n.path), 0o700)
	if err == nil {
		err = os.WriteFile(n.path, []byte(text), 0o600)
	}
	if err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "cache folder")
	}
	return nil
}

func (n note) exists() bool {
	_, err := os.Stat(n.path)
	return err == nil
}

func (n note) remove() { _ = os.Remove(n.path) } // the note often does not exist

// idle records whether the agent of a session waits for its user. A failure
// loses nothing, because the agent gets messages at its next step.
func idle(session string, yes bool) {
	mark, err := noteOf("idle", session)
	switch {
	case err != nil:
	case yes:
		_ = mark.put("") // see above
	default:
		mark.remove()
	}
}

// waker is a process that waits to wake a session. A later process takes over.
type waker struct {
	session     string
	mark, claim note // notes about the idle agent and about the waiting process
	owner       string
}

// newWaker claims a session for this process.
func newWaker(session string) (waker, error) {
	w := waker{session: session, owner: uuid.NewString()}
	var err error
	if w.mark, err = noteOf("idle", session); err == nil {
		w.claim, err = noteOf("wake", session)
	}
	if err == nil {
		err = w.claim.put(w.owner)
	}
	return w, err
}

// held reports whether this process still has the claim.
func (w waker) held() bool {
	raw, err := files.Read(w.claim.path, maxClaim)
	return err == nil && string(raw) == w.owner
}

// hold returns a context that ends when another process takes or removes the
// claim.
func (w waker) hold(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for w.held() && bridge.Pause(ctx, wakeClaimCheck) {
		}
		cancel()
	}()
	return ctx, cancel
}

// release removes the claim unless another process has it.
func (w waker) release() {
	if w.held() {
		w.claim.remove() // otherwise, it stays until the next turn replaces it
	}
}
