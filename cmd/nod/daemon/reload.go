package daemon

import (
	"context"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
)

// reloadPatience is the time that the platforms of a new generation have to
// connect before the old platforms are disconnected.
const reloadPatience = 10 * time.Second

// reloads applies each new config until ctx ends.
func (d *Daemon) reloads(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			<-d.now.Load().done
			return nil
		case c := <-d.changed:
			d.reload(ctx, c)
		}
	}
}

// reload replaces the generation, like an upgrade with two daemons: the new
// generation takes over the calls, and the old one receives events until the
// new one does.
func (d *Daemon) reload(ctx context.Context, c config.Config) {
	if fixed := needRestart(d.config, c); len(fixed) > 0 {
		d.log.Warn("some changes require a restart; applying the others", "keys", strings.Join(fixed, ", "))
	}
	g, err := d.build(ctx, c)
	if err != nil {
		d.log.Error("config not reloaded; the old config stays in effect", "error", err)
		return
	}
	old := d.now.Load()
	g.start(ctx)
	d.now.Store(g)
	old.close()
	deadline, cancel := context.WithTimeout(ctx, reloadPatience)
	defer cancel()
	for !Settled(g.engine.Health()) && bridge.Pause(deadline, 50*time.Millisecond) {
	}
	old.stop()
	<-old.done
	d.log.Info("config reloaded", "platforms", c.Platforms(), "routes", len(c.Routes), "agents", len(c.Agents), "people", len(c.People))
}

// Settled reports whether every platform is connected or on standby.
func Settled(health map[string]bridge.Health) bool {
	for _, h := range health {
		if h.State != bridge.HealthUp && h.State != bridge.HealthStandby {
			return false
		}
	}
	return true
}

// needRestart returns the changed keys that take effect only after a restart.
func needRestart(a, b config.Config) []string {
	var out []string
	for _, k := range []struct {
		name string
		a, b any
	}{
		{"listen", a.Listen, b.Listen}, {"max_connections", a.MaxConnections, b.MaxConnections}, {"log_level", a.LogLevel, b.LogLevel},
		{"redis", a.Redis, b.Redis}, {"retention", a.Retention, b.Retention}, {"traces", a.Traces, b.Traces},
	} {
		if !reflect.DeepEqual(k.a, k.b) {
			out = append(out, k.name)
		}
	}
	return out
}

// reloadOnSignal reloads the config on each SIGHUP until ctx ends. An invalid
// config changes nothing.
func (d *Daemon) reloadOnSignal(ctx context.Context, load func() (config.Config, error)) {
	if reloadSignal == nil {
		return
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, reloadSignal)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
		}
		c, err := load()
		if err != nil {
			d.log.Error("config not reloaded; the old config stays in effect", "error", err)
			continue
		}
		select {
		case d.changed <- c:
		case <-ctx.Done():
			return
		}
	}
}
