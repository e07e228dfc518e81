// Package sandboxed serves the sandbox and configures a daemon for it, for
// commands and tests that run both in one process. The emulated services
// themselves are in platforms/sandbox, which knows nothing about nod. Start
// with [Serve].
package sandboxed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

// Serve serves the sandbox until ctx ends. A nil log discards output.
func Serve(ctx context.Context, s *sandbox.Sandbox, l net.Listener, log *slog.Logger) error {
	known := daemon.HostsOf(config.Config{Listen: l.Addr().String()})
	server := &http.Server{Handler: known.Guard("the sandbox is for this machine only", s), ReadHeaderTimeout: daemon.HeaderTimeout}
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

// Keys adds keys to a config. All daemons of this process on a sandbox get the
// same keys.
var Keys = daemon.MemoryKeys()

// Config returns a config that uses the platforms of the sandbox at base.
func Config(base string) config.Config {
	c := config.Config{
		LogLevel: "info", Sandbox: base,
		Connections: map[string]any{
			slack.Kind.Name:    &slack.Settings{BotToken: config.NewSecret(sandbox.SlackBotToken), AppToken: config.NewSecret(sandbox.SlackAppToken)},
			discord.Kind.Name:  &discord.Settings{BotToken: config.NewSecret(sandbox.DiscordToken)},
			telegram.Kind.Name: &telegram.Settings{BotToken: config.NewSecret(sandbox.TelegramToken)},
		},
		People: map[string]config.Person{},
		Routes: map[string]config.Route{bridge.DefaultRoute: {
			To: []string{
				"slack:" + sandbox.SlackChannel, "discord:" + sandbox.DiscordChannel, fmt.Sprintf("telegram:%d", sandbox.TelegramChat),
			},
			Responders: []string{"ana", "bo", "cy"},
		}},
		Agents: map[string]config.Agent{},
	}
	for _, m := range sandbox.SampleMembers() {
		c.People[m.Key] = config.Person{Accounts: map[string]string{"slack": m.Slack, "discord": m.Discord, "telegram": fmt.Sprint(m.Telegram)}}
	}
	Keys(&c)
	return c
}
