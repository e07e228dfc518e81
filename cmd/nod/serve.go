package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
)

func serveCommand() *cobra.Command {
	var path string
	var dev, logJSON bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon. It accepts requests over HTTP, posts them to the configured chats
and stores them in Redis. SIGINT and SIGTERM stop it; pending requests stay
pending. SIGHUP and nod config reload read the config again; one that is invalid,
or that no longer has a section such as agents or policy, changes nothing.`,
		Example: "  nod serve --config nod.yaml\n  nod serve --dev --config nod.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, others, err := daemon.Load(path, os.Environ())
			if err != nil {
				return err
			}
			daemon.NoCoreDumps()
			hide, err := daemon.Redactor(c)
			if err != nil {
				return err
			}
			log := daemon.NewLog(cmd.ErrOrStderr(), c.LogLevel, logJSON, hide)
			if len(others) > 0 {
				log.Warn("unknown variables", "names", strings.Join(others, ", "))
			}
			o, keep := daemon.Options{Log: log, Version: version}, func(*config.Config) {}
			if dev {
				fmt.Fprintln(cmd.ErrOrStderr(), "nod: everything is kept in this process: all requests and decisions are LOST when nod stops; not for production")
				keep = daemon.MemoryKeys()
			} else {
				client, err := daemon.NewRedis(c.Redis)
				if err != nil {
					return err
				}
				defer client.Close()
				o.Redis = client
			}
			keep(&c)
			o.Config = c
			return daemon.Run(cmd.Context(), o, func() (config.Config, []string, error) {
				c, others, err := daemon.Load(path, os.Environ())
				keep(&c)
				return c, others, err
			})
		},
	}
	configFlag(cmd, &path, configPath())
	cmd.Flags().BoolVar(&dev, "dev", false, "store everything in memory; everything is lost when nod stops")
	cmd.Flags().BoolVar(&logJSON, "log-json", false, "write the log as JSON lines")
	return cmd
}
