package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/config"
)

const configUsage = "config file (default NOD_CONFIG, or nod.yaml if it exists)"

// configPath returns the path of the config file if no flag sets it. It is
// empty if there is no such file.
func configPath() string {
	if path := os.Getenv("NOD_CONFIG"); path != "" {
		return path
	}
	if _, err := os.Stat(config.DefaultPath); err != nil {
		return ""
	}
	return config.DefaultPath
}

func configCommand() *cobra.Command {
	var path string
	load := func() (config.Config, error) {
		c, err := config.Load(path, os.Environ())
		if err != nil {
			return c, bridge.Wrap(bridge.CodeInvalid, err, "config")
		}
		return c, nil
	}
	cmd := &cobra.Command{Use: "config", Short: "Check or print the configuration"}
	check := &cobra.Command{
		Use: "check", Short: "Check the configuration and report every problem", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load()
			if err == nil {
				err = errors.Join(c.Usable(), c.UnknownVariables(path, os.Environ()))
			}
			if err == nil {
				_, err = daemon.Policy(c)
			}
			if err == nil {
				_, err = daemon.Redactor(c)
			}
			if err == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: the config is valid; %s\n", setup.Summary(c))
			}
			return err
		},
	}
	show := &cobra.Command{
		Use: "show", Short: "Print the effective configuration, without secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load()
			if err != nil {
				return err
			}
			enc := yaml.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent(2)
			return enc.Encode(c)
		},
	}
	for _, sub := range []*cobra.Command{check, show} {
		sub.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
		cmd.AddCommand(sub)
	}
	return cmd
}

// printLine prints v as one line of JSON.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
