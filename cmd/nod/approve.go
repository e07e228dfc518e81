package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

func approveCommand() *cobra.Command {
	var a asking
	var tool, input, command, grant, confirm, where string
	var editable bool
	var scopes []string
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
			r.Approval = &bridge.Approval{Tool: tool, Key: grant, Confirm: confirm, Where: where}
			if editable {
				if len(scopes) == 0 {
					scopes = []string{string(bridge.ScopeOnce)}
				}
				scopes = append([]string{string(bridge.DecideDeny), string(bridge.DecideDenyReason), string(bridge.DecideEdit)}, scopes...)
				for _, s := range scopes {
					r.Approval.Decisions = append(r.Approval.Decisions, bridge.Decision(s))
				}
				scopes = nil
			}
			for _, s := range scopes {
				r.Approval.Scopes = append(r.Approval.Scopes, bridge.Scope(s))
			}
			if command != "" && input != "" {
				return bridge.Errorf(bridge.CodeInvalid, "--command and --input do not go together")
			}
			if input != "" {
				r.Approval.Input = json.RawMessage(input)
			}
			if command != "" {
				raw, err := json.Marshal(map[string]string{"command": command})
				if err != nil {
					return err
				}
				r.Approval.Input = raw
			}
			rec, err := a.ask(cmd, r)
			if err != nil {
				return err
			}
			if editable && rec.State == bridge.StateApproved && !a.json {
				approved := r.Approval.Input
				if len(rec.Response.Input) > 0 {
					approved = rec.Response.Input
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", approved); err != nil {
					return bridge.Wrap(bridge.CodeInternal, err, "the approved input can not be printed")
				}
			}
			return outcome(cmd.ErrOrStderr(), rec)
		},
	}
	a.waitFlags(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "name of the tool that wants permission")
	cmd.Flags().StringVar(&command, "command", "", "the command that would run, shown as it is")
	cmd.Flags().StringVar(&input, "input", "", "what the tool would be given, as JSON")
	cmd.Flags().StringVar(&grant, "grant-key", "", "the tool's own name for what is approved; it does not affect grants")
	cmd.Flags().StringVar(&where, "where", "", "directory where it would be done; a grant covers that location alone")
	cmd.Flags().BoolVar(&editable, "editable", false, "people may change the input before they approve it; what was approved is printed as JSON")
	cmd.Flags().StringVar(&confirm, "confirm", "", "what a person has to type to approve, such as the name of what is deleted")
	cmd.Flags().StringSliceVar(&scopes, "scopes", nil, "scopes on offer: once, session, always")
	return cmd
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
