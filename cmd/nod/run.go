package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

func runCommand() *cobra.Command {
	var a asking
	var prompt string
	cmd := &cobra.Command{
		Use:   "run -- COMMAND [ARG...]",
		Short: "Run a command only if it is approved",
		Long: `Show exactly this argument list, and run exactly it once a person approves it.
The command gets stdin, stdout, stderr and the signals that nod gets.

If the command ran, the exit code is its own, or 128 plus the number of the
signal that ended it. ` + runExitCodes + `

SIGINT, SIGTERM or SIGHUP while nod waits cancels the request (see --keep);
nod exits with 130, 143 or 129, and nothing ran.`,
		Example: "  nod run -- kubectl delete pod x",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := programPath(args[0])
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "%q can not be run", args[0])
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
	cmd.Flags().StringVar(&prompt, "prompt", "", "what to ask instead of \"Run this command?\"")
	return cmd
}

// programPath finds a program as the shell would and returns its absolute path,
// which is shown, judged by the policy, and run.
func programPath(name string) (string, error) {
	path, err := exec.LookPath(name)
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
		prompt = "Run this command?"
	}
	r := a.request(prompt)
	dir, _ := where["directory"].(string) // empty where it is not known
	r.Approval = &bridge.Approval{Tool: "run", Input: raw, Where: dir, Scopes: []bridge.Scope{bridge.ScopeOnce}}
	return r, nil
}
