package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/render"
)

// serveEditor starts an app server with a socket of its own. The editor on
// stdin and stdout is one of its clients, and the companion is another, so
// Codex itself decides which answer is first. When the editor ends, the app
// server ends too, and pending actions do not run.
func (f codexFlags) serveEditor(cmd *cobra.Command, args []string, companion *relay.Companion) error {
	dir, err := os.MkdirTemp("", "nod-") // only the owner can open the directory
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover socket is harmless
	f.socket = filepath.Join(dir, "s")
	tell := cmd.ErrOrStderr()
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	child := exec.CommandContext(ctx, args[0], append(args[1:], "--listen", "unix://"+f.socket)...)
	child.Stdout, child.Stderr, child.WaitDelay = tell, tell, childWait
	ownGroup(child)
	child.Cancel = func() error { return endServer(child.Process) }
	release, err := startWrapped(child)
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "cannot start %s", args[0])
	}
	defer release()
	var exited error
	ended := make(chan struct{})
	go func() {
		exited = child.Wait()
		_ = signalGroup(child.Process, syscall.SIGKILL) // processes that a launcher such as npm's left behind
		close(ended)
		cancel()
	}()
	var work sync.WaitGroup
	editor, err := f.awaitServer(ctx)
	if err == nil {
		work.Go(func() {
			if err := f.attach(ctx, tell, companion); bridge.ErrorCode(err) == bridge.CodeUnsupported {
				fmt.Fprintf(tell, "nod: %s; only the editor asks\n", render.Line(bridge.PublicText(err)))
			}
		})
		err = joinEditor(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), editor)
		editor.close()
	}
	own := ctx.Err() != nil && cmd.Context().Err() == nil
	cancel()
	work.Wait()
	<-ended
	if exit, ok := errors.AsType[*exec.ExitError](exited); ok && own && exit.ExitCode() > 0 {
		fmt.Fprintf(tell, "nod: %s ended with exit code %d\n", args[0], exit.ExitCode())
		return cli.ExitError(exit.ExitCode())
	}
	if own || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// endServer ends an app server. After the first signal, Codex waits for pending
// approvals, which no one can give anymore, so nod sends a second signal.
func endServer(p *os.Process) error {
	if err := signalGroup(p, syscall.SIGTERM); err != nil {
		return os.ErrProcessDone
	}
	time.Sleep(secondSignal)
	if signalGroup(p, syscall.SIGTERM) != nil {
		return os.ErrProcessDone
	}
	return nil
}

// secondSignal is the time between the two signals that end an app server.
const secondSignal = 300 * time.Millisecond

// awaitServer connects the editor as soon as the app server listens.
func (f codexFlags) awaitServer(ctx context.Context) (codexConn, error) {
	end := time.Now().Add(codexDialTime)
	for {
		conn, err := dialCodex(ctx, f.socket)
		if err == nil || bridge.ErrorCode(err) == bridge.CodeUnsupported || time.Now().After(end) {
			return conn, err
		}
		if !bridge.Pause(ctx, 20*time.Millisecond) {
			return conn, context.Canceled
		}
	}
}

// joinEditor relays the messages of an editor and the app server unchanged. It
// returns when either side ends.
func joinEditor(ctx context.Context, in io.Reader, out io.Writer, server codexConn) error {
	done := make(chan error, 2)
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				if err := server.Write(ctx, line); err != nil {
					done <- err
					return
				}
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	go func() {
		for {
			message, err := server.Read(ctx)
			if err == nil {
				// in JSON, a line break in a message is only space between
				// values
				line := bytes.ReplaceAll(message, []byte("\n"), []byte(" "))
				_, err = out.Write(append(line, '\n'))
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
