package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/terminal"
)

// runPrompt is the default text of a request of nod run.
const runPrompt = "Run this command?"

func runCommand() *cobra.Command {
	var a asking
	var prompt string
	cmd := &cobra.Command{
		Use:   "run -- COMMAND [ARG...]",
		Short: "Run a command only if it is approved",
		Long: `Request approval for a command and run it once a person approves. nod shows and
runs exactly the same argument list, and refuses an argument that is not valid
UTF-8, because no card can show it. The command inherits stdin, stdout and
stderr, and nod passes signals on to it.

The card names the terminal, pipe or file that the command reads from stdin, but
not its content, and a policy rule allows the command only if the rule names
stdin. A pipe or a file in which nothing is left counts as no stdin, as in most
CI jobs: the command then reads the null device.

If the command ran, the exit code is its own, or 128 plus the number of the
signal that ended it. ` + runExitCodes + `

If SIGINT, SIGTERM or SIGHUP ends the wait, nod cancels the request, unless
--keep is set, and exits with 130, 143 or 129. The command does not run.`,
		Example: "  nod run -- kubectl delete pod x",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := programPath(args[0])
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "cannot run %q", args[0])
			}
			in := cmd.InOrStdin()
			stdin := readsFrom(in)
			if f, ok := in.(*os.File); ok && stdin != "" && exhausted(f) {
				stdin, in = "", nil // the null device, so that the input cannot change later
			}
			r, err := runRequest(&a, prompt, path, args, stdin)
			if err != nil {
				return err
			}
			rec, err := a.ask(cmd, r)
			if err != nil {
				return err
			}
			if err := outcome(cmd.ErrOrStderr(), rec); err != nil {
				return err
			}
			if rec.State != bridge.StateApproved {
				return cli.ExitError(bridge.CodeUnavailable.ExitCode())
			}
			return execute(cmd, path, args, in)
		},
	}
	a.waitFlags(cmd)
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&prompt, "prompt", "", "text to show instead of \""+runPrompt+"\"")
	return cmd
}

// programPath finds a program in the same way as a shell and returns its
// absolute path. nod shows it, checks it against the policy, and runs it.
func programPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("no such program in PATH")
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return "", e.Err
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// runRequest returns the request for a command. Stdin names the source of the
// command's input, if nod does not show the input.
func runRequest(a *asking, prompt, path string, args []string, stdin string) (bridge.Request, error) {
	for n, arg := range args {
		if !utf8.ValidString(arg) {
			return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "argument %d: %q is not valid UTF-8, so no card can show it", n, arg).
				WithHint("pass it in a file")
		}
	}
	input := map[string]any{"argv": args, "program": path}
	dir, err := os.Getwd()
	if err == nil {
		input["directory"] = dir
	}
	if host, err := os.Hostname(); err == nil {
		input["host"] = host
	}
	if u, err := user.Current(); err == nil {
		input["user"] = u.Username
	}
	if stdin != "" {
		input["stdin"] = stdin
	}
	raw, err := bridge.EncodeBody(input)
	if err != nil {
		return bridge.Request{}, err
	}
	if prompt == "" {
		prompt = runPrompt
	}
	r := a.request(prompt)
	r.Approval = &bridge.Approval{Tool: "run", Input: raw, Where: dir, Scopes: []bridge.Scope{bridge.ScopeOnce}}
	return r, nil
}

// readsFrom names the source of a command's standard input. It returns "" for
// the null device. A terminal has a name too: an agent can open one and type.
func readsFrom(stdin io.Reader) string {
	f, ok := stdin.(*os.File)
	if !ok {
		return "a stream"
	}
	info, err := f.Stat()
	switch {
	case err != nil: // closed
		return ""
	case info.Mode().IsRegular():
		return strings.TrimSpace("a file " + openPath(f))
	case info.Mode()&fs.ModeNamedPipe != 0:
		return "a pipe"
	case info.Mode()&fs.ModeSocket != 0:
		return "a socket"
	case terminal.Is(f):
		return "a terminal"
	case info.Mode()&fs.ModeDevice != 0 && os.SameFile(info, nullDevice()):
		return ""
	}
	return "a device"
}

// nullDevice returns the null device, or nil.
func nullDevice() fs.FileInfo {
	info, err := os.Stat(os.DevNull)
	if err != nil {
		return nil
	}
	return info
}

// openPath returns the path of an open file, or "" if the system does not know
// it.
func openPath(f *os.File) string {
	path, err := os.Readlink(filepath.Join("/proc/self/fd", strconv.Itoa(int(f.Fd()))))
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}
