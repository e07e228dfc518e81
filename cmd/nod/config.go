package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/deploy"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/render"
)

// configPath returns the default path of the config file, or an empty string if
// that file does not exist.
func configPath() string {
	if path := os.Getenv("NOD_CONFIG"); path != "" {
		return path
	}
	path := config.Installed()
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// configFlag adds the flag for the config file. A config in the current
// directory may come with someone else's files, and it names the addresses to
// which nod sends credentials. nod therefore reads it only if the user names
// it, and prints a note otherwise.
func configFlag(cmd *cobra.Command, path *string, standard string) {
	cmd.Flags().StringVarP(path, "config", "c", standard, "config file (default NOD_CONFIG, or ~/.config/nod/nod.yaml)")
	cmd.Flags().Lookup("config").DefValue = "" // the help text already names the default
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		here, err := os.Stat(config.Name)
		if err != nil || cmd.Flags().Changed("config") || os.Getenv("NOD_CONFIG") != "" {
			return
		}
		if used, err := os.Stat(*path); err == nil && os.SameFile(here, used) {
			return
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "nod: %s in this directory is not read; to use it, add --config %[1]s\n", config.Name)
	}
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check, print, reload and generate configuration"}
	cmd.AddCommand(checkCommand(), showConfigCommand(), reloadCommand(), schemaCommand(), tokenCommand(), manifestCommand())
	return cmd
}

func checkCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "check", Short: "Check the configuration and report every problem", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, others, err := daemon.Load(path, os.Environ())
			if err == nil {
				err = c.Usable()
			}
			for _, name := range others {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: %s: unknown variable; docs/configuration.md lists the variables\n", name)
			}
			if err == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: the config is valid; %s\n", setup.Summary(c))
			}
			return err
		},
	}
	configFlag(cmd, &path, configPath())
	return cmd
}

func showConfigCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "show", Short: "Print the effective configuration, without secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path, os.Environ())
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "config")
			}
			enc := yaml.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent(2)
			return enc.Encode(c)
		},
	}
	configFlag(cmd, &path, configPath())
	return cmd
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the config file",
		Long: `Print the JSON Schema of the config file. Editors complete and check nod.yaml
with it. nod config check also reports settings that conflict.`,
		Example: "  nod config schema > nod.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(deploy.ConfigSchema)
			return err
		},
	}
}

// reloadTime is the maximum duration of a reload by a daemon.
const reloadTime = 30 * time.Second

func reloadCommand() *cobra.Command {
	var path, url string
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Reload the config of the running daemon",
		Long: `Reload the config of the running daemon, and print what changed. A config
that is invalid, or that no longer has a section such as policy or metrics,
changes nothing. To remove a section, restart the daemon. Run the command on the
machine of the daemon, as a user who can read its keys.`,
		Example: "  nod config reload\n  nod config reload --config /etc/nod/nod.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Read(path, os.Environ())
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "config")
			}
			if url == "" {
				if url, err = setup.LocalURL(c); err != nil {
					return err
				}
			}
			name, proof, err := daemon.ReloadProof(c)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), reloadTime)
			defer cancel()
			var done daemon.Reloaded
			if err := client.New(url, "", nil).Reload(ctx, name, proof, &done); err != nil {
				return err
			}
			return printReloaded(cmd.OutOrStdout(), done)
		},
	}
	configFlag(cmd, &path, configPath())
	cmd.Flags().StringVar(&url, "url", os.Getenv("NOD_URL"), "URL of the daemon (NOD_URL; default: the listen address of the config)")
	return cmd
}

func printReloaded(w io.Writer, r daemon.Reloaded) error {
	none := true
	for _, x := range []struct {
		what  string
		names []string
	}{{"added", r.Added}, {"removed", r.Removed}, {"changed", r.Changed}, {"needs a restart", r.Restart}} {
		if len(x.names) > 0 {
			none = false
			if _, err := fmt.Fprintf(w, "%s: %s\n", x.what, render.Line(strings.Join(x.names, ", "))); err != nil {
				return err
			}
		}
	}
	if none {
		_, err := fmt.Fprintln(w, "reloaded; nothing has changed")
		return err
	}
	return nil
}

func tokenCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Generate a token and its hash",
		Long: `Generate a random token and its hash. Give the token to the agent as NOD_TOKEN,
and set the hash as its token in the daemon's config, so that no one who reads
the config can act as that agent. To replace a token, set both hashes with a
comma between them, distribute the new token, and remove the old hash.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token := config.NewToken()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]string{"token": token, "hash": config.HashToken(token)})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", token, config.HashToken(token))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print both as JSON")
	return cmd
}

func manifestCommand() *cobra.Command {
	var host string
	var link, replies, agent bool
	cmd := &cobra.Command{
		Use:   "manifest slack",
		Short: "Print the Slack app manifest",
		Long: `Print the manifest of the Slack app for nod. To create the app, go to
api.slack.com/apps > Create New App > From a manifest, or open the URL that
--link prints. The app uses Socket Mode and needs no public URL. With --http,
Slack calls nod at your URL instead. With --replies, a reply in the thread of a
card answers its text question, and the app can read the messages of the
channels that it is in. With --agent, Slack shows agent sessions in its own
interface, with a stop button and "Needs attention".`,
		Example:   "  nod config manifest slack\n  nod config manifest slack --link\n  nod config manifest slack --http https://nod.example.com",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"slack"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := slack.Manifest(host, replies, agent)
			if err == nil && link {
				m, err = []byte(slack.ManifestLink(m)+"\n"), nil
			}
			if err == nil {
				_, err = cmd.OutOrStdout().Write(m)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&host, "http", "", "URL at which Slack reaches nod, for HTTP mode")
	cmd.Flags().BoolVar(&link, "link", false, "print the URL of a page with the manifest filled in")
	cmd.Flags().BoolVar(&replies, "replies", false, "let nod read replies to cards as answers")
	cmd.Flags().BoolVar(&agent, "agent", false, "let Slack show agent sessions in its own interface")
	return cmd
}

// printLine prints v as one line of JSON.
