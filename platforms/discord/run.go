package discord

import (
	"context"
	"net/http"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// Run implements bridge.Platform. In HTTP mode, it only checks the token and
// registers the command: clicks arrive at Handler.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error {
	check := func(ctx context.Context) error {
		return p.api.do(ctx, http.MethodGet, discordgo.EndpointUser("@me"), nil, nil)
	}
	if p.endpoint != nil {
		return platforms.Watch(ctx, p.health, func(ctx context.Context) error {
			err := check(ctx)
			if err == nil {
				p.commands.register(ctx)
			}
			return err
		})
	}
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { platforms.Recheck(ctx, p.health, check) })
	return p.gateway.run(ctx, p.inbound(sink))
}

// Handler serves the interactions endpoint of HTTP mode.
func (p *Platform) Handler(sink bridge.Sink) http.Handler {
	if p.endpoint == nil {
		return http.NotFoundHandler()
	}
	return p.endpoint.serve(p.inbound(sink))
}

// inbound returns the part that handles interactions for a sink.
func (p *Platform) inbound(sink bridge.Sink) *inbound {
	return &inbound{
		platform: p.name, api: p.api, sink: sink, log: p.log,
		commands: p.commands, forms: forms{sink: sink, log: p.log}, poster: p.poster, health: p.health, seen: &p.seen,
	}
}
