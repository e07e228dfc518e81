package main

import (
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
			client, stop, err := daemon.OpenRedis(c.Redis, dev, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer stop()
			keep := func(*config.Config) {}
			if dev {
				keep = daemon.MemoryKeys()
			}
			keep(&c)
			o := daemon.Options{Config: c, Redis: client, Log: log, Version: version}
			return daemon.Run(cmd.Context(), o, func() (config.Config, []string, error) {
				c, others, err := daemon.Load(path, os.Environ())
				keep(&c)
				return c, others, err
			})
		},
	}
	configFlag(cmd, &path, configPath())
	cmd.Flags().BoolVar(&dev, "dev", false, "use an embedded Redis that loses all data when nod stops")
	cmd.Flags().BoolVar(&logJSON, "log-json", false, "write the log as JSON lines")
	return cmd
}
