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
		Long: `Copy everything that nod has in Redis into a file: what is pending and decided,
grants, the audit log, keys that are kept there. It holds what people wrote and
decided, so only you can read it.

Stop the daemons first: then it is the state of one moment. Where they can not
be stopped, copy Redis by its own means (an RDB file), which is such a state
too; --live takes what is there while daemons run, one key after another.`,
		Example: "  nod backup nod.backup --config nod.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withRedis(path, func(c config.Config, client redis.UniversalClient) error {
				n, err := broker.Daemons(cmd.Context(), client, c.Redis.Prefix)
				if err != nil {
					return err
				}
				if n > 0 && !live {
					return bridge.Errorf(bridge.CodeConflict, "%d daemons are running", n).WithHint("stop them, or copy Redis by its own means; --live copies all the same, though not one moment's state")
				}
				f, err := os.CreateTemp(filepath.Dir(args[0]), ".nod-backup-*")
				if err != nil {
					return err
				}
				defer func() { _ = os.Remove(f.Name()) }() // gone already once it was renamed
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
					fmt.Fprintf(cmd.ErrOrStderr(), "nod: %d keys are in %s\n", keys, args[0])
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
	cmd.Flags().BoolVar(&live, "live", false, "copy although daemons are running")
	return cmd
}

func restoreCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Load a backup into an empty Redis",
		Long: `Put what nod backup wrote into the Redis of the config, under its prefix, where
nothing is stored yet. A file that is not whole is refused before anything is
written. What has expired meanwhile ends when the daemon starts.`,
		Example: "  nod restore nod.backup --config nod.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "the backup can not be read")
			}
			defer func() { _ = f.Close() }() // it was only read
			return withRedis(path, func(c config.Config, client redis.UniversalClient) error {
				keys, err := broker.Restore(cmd.Context(), client, c.Redis.Prefix, f)
				if err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "nod: %d keys are restored; start nod serve\n", keys)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
	return cmd
}

// withRedis calls f with the Redis that the config names.
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
