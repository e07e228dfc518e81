package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

// approveFlags are the flags of nod approve that say what is approved.
type approveFlags struct {
	tool, input, command, grant, confirm, where string
	editable                                    bool
	scopes                                      []string
}

func approveCommand() *cobra.Command {
	var a asking
	var f approveFlags
	cmd := &cobra.Command{
		Use:   "approve PROMPT",
		Short: "Request approval; exit 0 if approved, 1 if denied",
		Long: `Ask for permission and wait. Exit codes: 0 approved, 1 denied, 2 usage,
3 expired, 4 cancelled, 5 unavailable, 6 forbidden, 7 queued, and 130, 143 or
129 if SIGINT, SIGTERM or SIGHUP ended the wait, which cancels the request (see
--keep).`,
		Example: "  nod approve \"Delete prod-db?\" && ./delete.sh\n  nod approve \"Deploy v2?\" --command \"kubectl apply -f v2.yaml\" --scopes once,session --session release-2",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notEmpty(cmd, "tool", "command", "input", "where", "confirm", "grant-key"); err != nil {
				return err
			}
			r := a.request(args[0])
			var err error
			if r.Approval, err = f.approval(); err != nil {
				return err
			}
			rec, err := a.ask(cmd, r)
			if err != nil {
				return err
			}
			if f.editable && rec.State == bridge.StateApproved && !a.json {
				if err := printApproved(cmd.OutOrStdout(), rec, r.Approval.Input); err != nil {
					return err
				}
			}
			return outcome(cmd.ErrOrStderr(), rec)
		},
	}
	a.waitFlags(cmd)
	f.flags(cmd)
	return cmd
}

func (f *approveFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tool, "tool", "", "name of the tool that wants permission")
	cmd.Flags().StringVar(&f.command, "command", "", "the command that would run, shown as it is")
	cmd.Flags().StringVar(&f.input, "input", "", "what the tool would be given, as JSON")
	cmd.Flags().StringVar(&f.grant, "grant-key", "", "the tool's own name for what is approved; it does not affect grants")
	cmd.Flags().StringVar(&f.where, "where", "", "directory where it would be done; a grant covers that location alone")
	cmd.Flags().BoolVar(&f.editable, "editable", false, "people may change the input before they approve it; what was approved is printed as JSON")
	cmd.Flags().StringVar(&f.confirm, "confirm", "", "what a person has to type to approve, such as the name of what is deleted")
	cmd.Flags().StringSliceVar(&f.scopes, "scopes", nil, "scopes on offer: once, session, always")
}

// approval returns what the flags say.
func (f *approveFlags) approval() (*bridge.Approval, error) {
	out := &bridge.Approval{Tool: f.tool, Key: f.grant, Confirm: f.confirm, Where: f.where}
	if f.editable {
		out.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideEdit}
		if len(f.scopes) == 0 {
			out.Decisions = append(out.Decisions, bridge.DecideOnce)
		}
	}
	for _, s := range f.scopes {
		if f.editable {
			out.Decisions = append(out.Decisions, bridge.Decision(s))
		} else {
			out.Scopes = append(out.Scopes, bridge.Scope(s))
		}
	}
	switch {
	case f.command != "" && f.input != "":
		return nil, bridge.Errorf(bridge.CodeInvalid, "--command and --input do not go together")
	case f.input != "":
		out.Input = json.RawMessage(f.input)
	case f.command != "":
		raw, err := json.Marshal(map[string]string{"command": f.command})
		if err != nil {
			return nil, err
		}
		out.Input = raw
	}
	return out, nil
}

// printApproved prints the input that was approved: the one that people edited,
// or the original.
func printApproved(w io.Writer, rec bridge.Record, original json.RawMessage) error {
	approved := original
	if len(rec.Response.Input) > 0 {
		approved = rec.Response.Input
	}
	if _, err := fmt.Fprintf(w, "%s\n", approved); err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "the approved input can not be printed")
	}
	return nil
}

// notEmpty refuses flags that are given without a value, as by a variable that
// is not set: what they ask for would silently be left out.
func notEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return bridge.Errorf(bridge.CodeInvalid, "--%s: a value is required", name)
		}
	}
	return nil
}
