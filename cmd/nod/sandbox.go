package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

func sandboxCommand() *cobra.Command {
	var listen string
	var noLimits bool
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Emulate Slack, Discord and Telegram locally",
		Long: `Emulate the parts of Slack, Discord and Telegram that an interactive bot
touches. Any bot can connect to it, with the SDK it has; the page shows the
three chats, and you can be any of their members.

It is for this machine only: whoever reaches it can act as anybody.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return bridge.Wrap(bridge.CodeUnavailable, err, "listen: %s", listen)
			}
			s := sandbox.New(sandbox.Options{NoLimits: noLimits, Log: newLog(cmd.ErrOrStderr(), "info", false, plainRedactor())})
			describeSandbox(cmd.OutOrStdout(), "http://"+l.Addr().String())
			return serveSandbox(cmd.Context(), s, l, nil)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8788", "address to serve on")
	cmd.Flags().BoolVar(&noLimits, "no-limits", false, "switch the services' rate limits off")
	return cmd
}

func describeSandbox(w io.Writer, base string) {
	fmt.Fprintf(w, `page      %s/
slack     api url %s/slack/api/      bot token %s  app token %s  signing secret %s
discord   api url %s/discord         bot token %s
telegram  api url %s/telegram        token %s
channels  slack:%s  discord:%s  telegram:%d
control   POST %s/control/act, /control/faults, /control/disconnect; GET /control/state
`, base, base, sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.SlackSigningSecret,
		base, sandbox.DiscordToken, base, sandbox.TelegramToken,
		sandbox.SlackChannel, sandbox.DiscordChannel, sandbox.TelegramChat, base)
}

// serveSandbox serves until ctx ends. Other requests go to next, if there is
// one.
func serveSandbox(ctx context.Context, s *sandbox.Sandbox, l net.Listener, log *slog.Logger) error {
	known := hostsOf(config.Config{Listen: l.Addr().String()})
	server := &http.Server{Handler: known.guard("the sandbox is for this machine only", s), ReadHeaderTimeout: headerTimeout}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	stop := context.AfterFunc(ctx, func() { s.Close(); server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// sandboxConfig is a config whose platforms are the sandbox at base.
func sandboxConfig(base string) config.Config {
	c := bareSandboxConfig(base)
	stageKeys(&c)
	return c
}

// stageKeys are the keys of everything that this process runs on a sandbox.
var stageKeys = memoryKeys()

func bareSandboxConfig(base string) config.Config {
	no := false
	c := config.Config{
		LogLevel: "info",
		Slack:    config.Slack{BotToken: config.NewSecret(sandbox.SlackBotToken), AppToken: config.NewSecret(sandbox.SlackAppToken), APIURL: base + "/slack/api/", Pacing: &no},
		Discord:  config.Discord{BotToken: config.NewSecret(sandbox.DiscordToken), APIURL: base + "/discord", Pacing: &no},
		Telegram: config.Telegram{BotToken: config.NewSecret(sandbox.TelegramToken), APIURL: base + "/telegram", Pacing: &no},
		People:   map[string]config.Person{},
		Routes: map[string]config.Route{bridge.DefaultRoute: {
			To: []string{
				"slack:" + sandbox.SlackChannel, "discord:" + sandbox.DiscordChannel, fmt.Sprintf("telegram:%d", sandbox.TelegramChat),
			},
			Responders: []string{"ana", "bo", "cy"},
		}},
		Agents: map[string]config.Agent{},
	}
	for _, m := range sandbox.SampleMembers() {
		c.People[m.Key] = config.Person{Slack: m.Slack, Discord: m.Discord, Telegram: fmt.Sprint(m.Telegram)}
	}
	return c
}
