// Command nod asks people in Slack, Discord and Telegram on behalf of an agent
// and returns their answer. Start with the root command in main.go; each group
// of commands has a file.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/hook"
)

func main() {
	daemon.QuietRedis()
	os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs nod with the given arguments and streams, and returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return itself().Run(args, stdin, stdout, stderr)
}

// itself returns nod as a program.
func itself() cli.Program {
	return cli.Program{Name: "nod", Tree: fullTree, Version: version, Code: func(cmd *cobra.Command, code int) int {
		if cmd.Name() == "run" {
			return reservedExit(code)
		}
		return code
	}}
}

// commandGroups are the sections of nod --help with their commands, in order.
var commandGroups = []struct {
	title    string
	commands []func() *cobra.Command
}{
	{"Try it:", []func() *cobra.Command{demoCommand}},
	{"Ask people:", []func() *cobra.Command{askCommand, approveCommand, runCommand, notifyCommand}},
	{"Respond and inspect:", []func() *cobra.Command{
		listCommand, showCommand, answerCommand, cancelCommand, eventsCommand, sessionsCommand,
		grantsCommand, linkCommand, passkeyCommand,
	}},
	{"Connect agents:", []func() *cobra.Command{hook.Command, mcpCommand, proxyCommand}},
	{"Set up and operate:", []func() *cobra.Command{
		initCommand, doctorCommand, serveCommand, healthCommand, configCommand, policyCommand,
	}},
	{"Verify decisions:", []func() *cobra.Command{receiptCommand, auditCommand}},
}

// development lists commands that nod --help omits, because only people who
// develop nod need them.
var development = []func() *cobra.Command{sandboxCommand, manCommand}

// The help lists commands in the order of commandGroups.
func init() { cobra.EnableCommandSorting = false }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nod",
		Short: "Human approval for AI agents, scripts and CI",
		Long: `nod asks people in Slack, Discord and Telegram on behalf of AI agents, scripts
and CI, and returns the first valid answer.

Try it without tokens or Redis, then connect your own chats:

  nod demo
  nod init
  nod doctor
  nod serve

Ask people from a script:

  nod approve "Delete prod-db?" && ./delete.sh
  nod run -- kubectl delete pod x
  region=$(nod ask "Which region?" --select eu,us)

Environment:
  NOD_URL      URL of the daemon (default http://127.0.0.1:8787)
  NOD_TOKEN    token of an agent or person
  NOD_CONFIG   path of the config file (default ~/.config/nod/nod.yaml)

Exit codes:
  0 answered or approved    4 cancelled, declined, replaced or not found
  1 denied                  5 unavailable, undeliverable or rate limited
  2 usage or invalid input  6 forbidden
  3 expired                 7 deferred; a late answer goes to the session
  130, 143 or 129 if SIGINT, SIGTERM or SIGHUP ended the wait

nod run adds 110 to its own exit codes, to keep them apart from those of the
command that it runs.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
	}
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, make := range g.commands {
			c := make()
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(versionCommand())
	for _, make := range development {
		c := make()
		c.Hidden = true
		root.AddCommand(c)
	}
	return root
}

// fullTree returns all commands, including those that cobra adds.
func fullTree() *cobra.Command {
	root := rootCommand()
	root.SetHelpCommand(cli.HelpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	completeBash(root)
	cli.WordUsage(root)
	complete(root)
	return root
}
