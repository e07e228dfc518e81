package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/deploy"
	"github.com/nodbridge/nod/render"
)

func policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Test policy rules, or print a starter set",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(policyTest(), policyStarter())
	return cmd
}

func policyStarter() *cobra.Command {
	return &cobra.Command{
		Use:   "starter",
		Short: "Print a starter set of policy rules",
		Long: `Print a reviewed set of policy rules for coding agents, to add to the config. The
rules allow reading and searching, ask about options that write files or start
other programs, and leave everything else to people.`,
		Example: "  nod policy starter > policy.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(deploy.PolicyStarter)
			return err
		},
	}
}

func policyTest() *cobra.Command {
	var path, command, input, expect string
	var act bridge.Act
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Show which policy rules apply to a request, and why",
		Long: `Show which rules of the config apply to a request, and why. The command sends
nothing and needs no daemon. It follows the links in the directory of --where. It lists each part of the request that rules are
matched against: the commands of a plain shell line, the programs that a command
would start, and the text of a line that is not plain. With --expect, the exit
code is 1 if the rules have a different effect, so that you can test your rules.`,
		Example: "  nod policy test --config nod.yaml --agent ci --tool Bash --command \"git push origin main\"\n  nod policy test --config nod.yaml --tool Bash --command \"rm -rf /\" --expect deny",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path, os.Environ())
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "config")
			}
			p, err := daemon.Policy(c)
			if err != nil {
				return err
			}
			if act.Input, err = actInput(command, input); err != nil {
				return err
			}
			if filepath.IsAbs(act.Where) {
				act.Doubts = caller.DoubtsOf(act)
			}
			ruling, steps := p.Explain(act)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"ruling": ruling, "steps": steps})
			} else {
				err = printRuling(cmd, ruling, steps)
			}
			if err == nil && expect != "" && expect != string(ruling.Effect) {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: expected %s, but the effect is %s\n", expect, ruling.Effect)
				return cli.ExitError(1)
			}
			return err
		},
	}
	configFlag(cmd, &path, configPath())
	for _, f := range policy.Flags() {
		cmd.Flags().StringVar(f.Text(&act), f.Name, "", f.Usage)
	}
	cmd.Flags().StringVar(&command, "command", "", "shell command line")
	cmd.Flags().StringVar(&input, "input", "", "tool input as JSON")
	cli.ChoiceVar(cmd.Flags(), &expect, "expect", "", "expected effect: allow, ask or deny; exit with 1 on any other", "allow", "ask", "deny")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the effect and every step as JSON")
	return cmd
}

// actInput returns the input of a tool from a shell command or from JSON.
func actInput(command, input string) (json.RawMessage, error) {
	if command != "" && input != "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "--command and --input cannot be used together")
	}
	if input != "" {
		if err := bridge.CheckJSON([]byte(input)); err != nil {
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
	part := ""
	for _, s := range steps {
		if head := s.Reading + ": " + s.Command; s.Reading != "" && head != part {
			part = head
			fmt.Fprintf(w, "%s\n", render.Line(head))
		}
		mark, rule := " ", s.Rule
		if s.Matched {
			mark = "*"
		}
		if rule == "" {
			rule = "-"
		}
		fmt.Fprintf(w, "%s %s\t%s\n", mark, render.Line(rule), render.Line(s.Why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	line := string(r.Effect)
	if r.Rule != "" {
		line += ", by " + r.Rule
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", render.Line(line), raw)
	return err
}
