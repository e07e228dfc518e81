package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

// runPrompt is the text of a request of nod run, unless --prompt sets it.
const runPrompt = "Run this command?"

func runCommand() *cobra.Command {
	var a asking
	var prompt string
	cmd := &cobra.Command{
		Use:   "run -- COMMAND [ARG...]",
		Short: "Run a command only if it is approved",
		Long: `Request approval for a command and run it once a person approves. nod shows and
runs exactly the same argument list. The command inherits stdin, stdout and
stderr, and nod passes signals on to it.

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
			r, err := runRequest(&a, prompt, path, args)
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
				return exitError(bridge.CodeUnavailable.ExitCode())
			}
			return execute(cmd, path, args)
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

func runRequest(a *asking, prompt, path string, args []string) (bridge.Request, error) {
	where := map[string]any{"argv": args, "program": path}
	if dir, err := os.Getwd(); err == nil {
		where["directory"] = dir
	}
	if host, err := os.Hostname(); err == nil {
		where["host"] = host
	}
	if u, err := user.Current(); err == nil {
		where["user"] = u.Username
	}
	raw, err := json.Marshal(where)
	if err != nil {
		return bridge.Request{}, err
	}
	if prompt == "" {
		prompt = runPrompt
	}
	r := a.request(prompt)
	dir, _ := where["directory"].(string) // empty if unknown
	r.Approval = &bridge.Approval{Tool: "run", Input: raw, Where: dir, Scopes: []bridge.Scope{bridge.ScopeOnce}}
	return r, nil
}
