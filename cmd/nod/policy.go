package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

func policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "try the rules of the config: what is allowed, asked and denied",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(policyTest())
	return cmd
}

func policyTest() *cobra.Command {
	var path, command, input, expect string
	var act bridge.Act
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test",
		Short: "say which rule decides about an act, and why",
		Long: `Say which rule of the config decides about an act, and why. Nothing is asked and
no daemon is needed. With --expect the exit code is 1 if the ruling is another,
so that a rule set can have tests.`,
		Example: "  nod policy test --config nod.yaml --agent ci --tool Bash --command \"git push origin main\"\n  nod policy test --config nod.yaml --tool Bash --command \"rm -rf /\" --expect deny",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path, os.Environ())
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "config")
			}
			p, err := buildPolicy(c)
			if err != nil {
				return err
			}
			if p == nil {
				p, _ = policy.New(nil, nil) // no rules: everything is asked
			}
			if act.Input, err = actInput(command, input); err != nil {
				return err
			}
			ruling, steps := p.Explain(act)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"ruling": ruling, "steps": steps})
			} else {
				err = printRuling(cmd, ruling, steps)
			}
			if err == nil && expect != "" && expect != string(ruling.Effect) {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: expected %s, and it is %s\n", expect, ruling.Effect)
				return exitError(1)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
	cmd.Flags().StringVar(&act.Agent, "agent", "", "name of the agent")
	cmd.Flags().StringVar(&act.Tool, "tool", "", "name of the tool")
	cmd.Flags().StringVar(&act.Where, "where", "", "directory or place where it would be done")
	cmd.Flags().StringVar(&command, "command", "", "a shell line")
	cmd.Flags().StringVar(&input, "input", "", "the tool's input, as JSON")
	cmd.Flags().StringVar(&expect, "expect", "", "allow, ask or deny: exit code 1 if it is another")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the ruling and every step as JSON")
	return cmd
}

// actInput is the input of a tool, from a shell line or as it is.
func actInput(command, input string) (json.RawMessage, error) {
	if command != "" && input != "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "--command and --input do not go together")
	}
	if input != "" {
		if _, err := bridge.Canonical([]byte(input)); err != nil {
			return nil, bridge.Wrap(bridge.CodeInvalid, err, "--input")
		}
		return json.RawMessage(input), nil
	}
	if command == "" {
		return nil, nil
	}
	return json.Marshal(map[string]string{"command": command})
}

func printRuling(cmd *cobra.Command, r bridge.Ruling, steps []policy.Step) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	for _, s := range steps {
		mark := " "
		if s.Matched {
			mark = "*"
		}
		rule := s.Rule
		if rule == "" {
			rule = "-"
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\n", mark, render.Line(rule), render.Line(s.Command), render.Line(s.Why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	line := string(r.Effect)
	if r.Rule != "" {
		line += ", by the rule " + r.Rule
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", render.Line(line), raw)
	return err
}
