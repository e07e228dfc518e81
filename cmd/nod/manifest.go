package main

import (
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/setup"
)

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
channels that it is in. With --agent, Slack shows the sessions of agents as its
own, with a stop button and "Needs attention".`,
		Example:   "  nod manifest slack\n  nod manifest slack --link\n  nod manifest slack --http https://nod.example.com",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"slack"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := setup.SlackManifest(host, replies, agent)
			if err == nil && link {
				m, err = []byte(setup.ManifestLink(m)+"\n"), nil
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
	cmd.Flags().BoolVar(&agent, "agent", false, "let Slack show the sessions of agents as its own")
	return cmd
}
