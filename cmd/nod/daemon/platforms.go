package daemon

import (
	"net/http"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/kinds"
)

// Platforms returns the platforms that have a token. With the sandbox, they
// keep rate limits only if paced is true. The argument o holds the options that
// all platforms share.
func Platforms(c config.Config, paced bool, o platforms.Options) ([]platforms.Adapter, error) {
	var out []platforms.Adapter
	o.NoPacing, o.Console, o.ConsoleURL = c.Sandbox != "" && !paced, c.Console.Enabled, c.Console.URL
	for _, name := range c.Platforms() {
		k, _ := kinds.Named(name)
		o.Name = name
		if base := strings.TrimRight(c.Sandbox, "/"); base != "" {
			o.APIURL = base + k.Sandbox
		}
		p, err := k.New(c.Connections[name], o)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// ports returns the platforms as ports of the engine, and the handlers of their
// callbacks by path.
func ports(all []platforms.Adapter) (out []bridge.Platform, callbacks map[string]func(bridge.Sink) http.Handler) {
	callbacks = map[string]func(bridge.Sink) http.Handler{}
	for _, p := range all {
		out = append(out, p)
		if k, _ := kinds.Named(p.Name()); k.Callback != "" {
			callbacks[k.Callback] = p.Handler
		}
	}
	return out, callbacks
}
