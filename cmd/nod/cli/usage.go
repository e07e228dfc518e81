package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// WordUsage makes every command of the tree report invalid arguments and flags
// in the style of nod.
func WordUsage(root *cobra.Command) {
	root.SetFlagErrorFunc(FlagProblem)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if check := c.Args; check != nil {
			c.Args = func(cmd *cobra.Command, args []string) error {
				if check(cmd, args) == nil {
					return nil
				}
				return argumentProblem(cmd, check, args)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// argumentProblem names the argument that is missing, unknown or superfluous.
func argumentProblem(cmd *cobra.Command, check cobra.PositionalArgs, args []string) error {
	usage := "usage: " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
	for n := len(args) - 1; n >= 0; n-- {
		if check(cmd, args[:n]) == nil {
			return bridge.Errorf(bridge.CodeInvalid, "unexpected argument %q", args[n]).WithHint("%s", usage)
		}
	}
	for _, arg := range args {
		if len(cmd.ValidArgs) > 0 && !slices.Contains(cmd.ValidArgs, arg) {
			return bridge.Errorf(bridge.CodeInvalid, "unknown argument %q", arg).WithHint("use %s", orList(cmd.ValidArgs))
		}
	}
	missing := "argument"
	if names := argumentNames(cmd); len(args) < len(names) {
		missing = names[len(args)]
	} else if len(args) > len(names) {
		return bridge.Errorf(bridge.CodeInvalid, "unexpected argument %q", args[len(names)]).WithHint("%s", usage)
	}
	return bridge.Errorf(bridge.CodeInvalid, "%s: required", missing).WithHint("%s", usage)
}

// argumentNames returns the names of the arguments in the usage line of a
// command.
func argumentNames(cmd *cobra.Command) []string {
	var names []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if word != "--" && word != "|" {
			names = append(names, strings.ReplaceAll(strings.Trim(word, "[].…"), "|", " or "))
		}
	}
	return names
}

// FlagProblem rewrites an error from the flag parser.
func FlagProblem(cmd *cobra.Command, err error) error {
	all := "list the flags with: " + cmd.CommandPath() + " --help"
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		if short := e.GetSpecifiedShortnames(); short != "" {
			return bridge.Errorf(bridge.CodeInvalid, "unknown flag: -%s", name).WithHint("%s", all)
		}
		if err := removedError(removed.Flag, CommandName(cmd)+" --"+name, "--"+name); err != nil {
			return err
		}
		if near := nearestFlag(cmd, name); near != "" {
			return bridge.Errorf(bridge.CodeInvalid, "unknown flag: --%s; did you mean --%s?", name, near).WithHint("%s", all)
		}
		return bridge.Errorf(bridge.CodeInvalid, "unknown flag: --%s", name).WithHint("%s", all)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return bridge.Errorf(bridge.CodeInvalid, "--%s: a value is required", e.GetFlag().Name).WithHint("%s", all)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := e.GetFlag()
		value := strings.ReplaceAll(f.Name, "-", "_") + ": " + e.GetValue()
		if err := removedError(removed.Value, value, fmt.Sprintf("--%s: %q", f.Name, e.GetValue())); err != nil {
			return err
		}
		return bridge.Errorf(bridge.CodeInvalid, "--%s: invalid value %q", f.Name, e.GetValue()).WithHint("%s", valueHint(f, e.Unwrap()))
	}
	if e, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return bridge.Errorf(bridge.CodeInvalid, "invalid flag %q", e.GetSpecifiedFlag()).WithHint("%s", all)
	}
	return bridge.Wrap(bridge.CodeInvalid, err, "usage")
}

// valueHint names the values that a flag accepts.
func valueHint(f *pflag.Flag, cause error) string {
	switch f.Value.Type() {
	case "int":
		return "use a number"
	case "bool":
		return "use true or false, or only --" + f.Name
	case "stringSlice":
		return "separate values with commas, and quote a value that contains a quote or a comma"
	}
	return cause.Error()
}

// nearestFlag returns the flag that a person probably meant, or "".
func nearestFlag(cmd *cobra.Command, name string) string {
	best, distance := "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := edits(f.Name, name); d < distance && d < len(name) && !f.Hidden {
			best, distance = f.Name, d
		}
	})
	return best
}

// edits returns the number of letters to insert, delete or replace to turn a
// into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for n := range row {
		row[n] = n
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for k := range len(b) {
			cost := above
			if a[i] != b[k] {
				cost++
			}
			above = row[k+1]
			row[k+1] = min(cost, row[k]+1, above+1)
		}
	}
	return row[len(b)]
}
