package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
)

func backupCommand() *cobra.Command {
	var path string
	var live bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Save all nod data in Redis to a file",
		Long: `Save all nod data in Redis to a file: requests, grants, the audit log, and the
keys that are kept in Redis. The file contains what people wrote and decided, so
only you can read it.

Stop the daemons first, so that the backup is a consistent snapshot. If you
cannot stop them, copy the RDB file of Redis, which is a snapshot too. With
--live, nod copies one key after another while the daemons run.`,
		Example: "  nod backup nod.backup --config nod.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withRedis(path, func(c config.Config, client redis.UniversalClient) error {
				n, err := broker.Daemons(cmd.Context(), client, c.Redis.Prefix)
				if err != nil {
					return err
				}
				if n > 0 && !live {
					return bridge.Errorf(bridge.CodeConflict, "daemons are running (%d)", n).WithHint("stop them, or copy the RDB file of Redis; --live makes a copy that is not a consistent snapshot")
				}
				f, err := os.CreateTemp(filepath.Dir(args[0]), ".nod-backup-*")
				if err != nil {
					return err
				}
				defer func() { _ = os.Remove(f.Name()) }() // fails after the rename
				keys, err := broker.Backup(cmd.Context(), client, c.Redis.Prefix, f)
				if err == nil {
					err = f.Sync()
				}
				if cerr := f.Close(); err == nil {
					err = cerr
				}
				if err == nil {
					err = os.Rename(f.Name(), args[0])
				}
				if err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "nod: saved %d keys to %s\n", keys, args[0])
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
	cmd.Flags().BoolVar(&live, "live", false, "copy while daemons are running")
	return cmd
}

func restoreCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Load a backup into an empty Redis",
		Long: `Load a file of nod backup into the Redis of the config, under its key prefix,
where nod must not have any data yet. An incomplete file is rejected before
anything is written. Requests that expired in the meantime are closed when the
daemon starts.`,
		Example: "  nod restore nod.backup --config nod.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "cannot read the backup")
			}
			defer func() { _ = f.Close() }() // read only
			return withRedis(path, func(c config.Config, client redis.UniversalClient) error {
				keys, err := broker.Restore(cmd.Context(), client, c.Redis.Prefix, f)
				if err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "nod: restored %d keys; start the daemon with: nod serve\n", keys)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
	return cmd
}

// withRedis calls f with a client of the configured Redis.
func withRedis(path string, f func(config.Config, redis.UniversalClient) error) error {
	c, err := config.Load(path, os.Environ())
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "config")
	}
	client, err := daemon.NewRedis(c.Redis)
	if err != nil {
		return err
	}
	defer client.Close()
	return f(c, client)
}
