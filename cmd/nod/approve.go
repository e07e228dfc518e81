package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nodbridge/nod/bridge"
)

// approveFlags are the flags of nod approve that describe the action.
type approveFlags struct {
	texts          bridge.Approval // set by the flags for texts
	input, command string
	editable       bool
	scopes         []string
}

func approveCommand() *cobra.Command {
	var a asking
	var f approveFlags
	cmd := &cobra.Command{
		Use:   "approve PROMPT",
		Short: "Request approval; exit 0 if approved, 1 if denied",
		Long: `Request approval in chat and wait for the decision.

Exit codes: 0 approved, 1 denied, 2 usage or invalid input, 3 expired,
4 cancelled, 5 unavailable or undeliverable, 6 forbidden, 7 deferred.
` + signalExitCodes,
		Example: "  nod approve \"Delete prod-db?\" && ./delete.sh\n  nod approve \"Deploy v2?\" --command \"kubectl apply -f v2.yaml\" --scopes once,session --session release-2",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
	textFlags(cmd, f.texts.Texts())
	cmd.Flags().StringVar(&f.command, "command", "", "command that would run, shown unchanged")
	cmd.Flags().StringVar(&f.input, "input", "", "input of the tool, as JSON")
	cmd.Flags().BoolVar(&f.editable, "editable", false, "let approvers edit the input; print the approved input as JSON")
	cmd.Flags().StringSliceVar(&f.scopes, "scopes", nil, "scopes to offer: once, session, always")
}

// approval returns the approval that the flags describe.
func (f *approveFlags) approval() (*bridge.Approval, error) {
	texts := f.texts
	out := &texts
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
		return nil, bridge.Errorf(bridge.CodeInvalid, "--command and --input cannot be used together")
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

// printApproved prints the approved input: the edited input, or the original if
// no one edited it.
func printApproved(w io.Writer, rec bridge.Record, original json.RawMessage) error {
	approved := original
	if len(rec.Response.Input) > 0 {
		approved = rec.Response.Input
	}
	if _, err := fmt.Fprintf(w, "%s\n", approved); err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "cannot print the approved input")
	}
	return nil
}

// noneEmpty rejects a flag with an empty value, such as an unset shell variable.
// Otherwise, nod would silently ignore the flag.
func noneEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		if f.Value.String() == "" || ok && len(list.GetSlice()) == 0 {
			err = bridge.Errorf(bridge.CodeInvalid, "--%s: a value is required", f.Name)
		}
	})
	return err
}
