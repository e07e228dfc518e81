package daemon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
)

// reloadPatience is the time that the platforms of a new generation have to
// connect before the old platforms are disconnected.
const reloadPatience = 10 * time.Second

// change is a config to apply. If Done is not nil, it receives the result.
type change struct {
	config config.Config
	done   chan<- error
}

// reloads applies each new config until ctx ends.
func (d *Daemon) reloads(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			<-d.now.Load().done
			return nil
		case c := <-d.changed:
			err := d.apply(ctx, c.config)
			if c.done != nil {
				c.done <- err
			}
		}
	}
}

// apply replaces the generation, like an upgrade with two daemons: the new
// generation takes over the calls, and the old generation receives events until
// the new one does.
func (d *Daemon) apply(ctx context.Context, c config.Config) error {
	g, err := d.build(ctx, c)
	if err != nil {
		return err
	}
	old := d.now.Load()
	g.start(ctx)
	d.now.Store(g)
	old.close()
	deadline, cancel := context.WithTimeout(ctx, reloadPatience)
	defer cancel()
	for !settled(g.engine.Health()) && bridge.Pause(deadline, 50*time.Millisecond) {
	}
	old.stop()
	<-old.done
	return nil
}

// Reload reads the config again and applies it. It rejects an invalid config,
// and a config that removes so much that the file is probably incomplete,
// because a file that is being written may be truncated. It logs the result.
func (d *Daemon) Reload(ctx context.Context) (Reloaded, error) {
	if d.load == nil {
		return Reloaded{}, bridge.Errorf(bridge.CodeUnsupported, "this daemon has no config to reload").WithHint("restart it")
	}
	c, others, err := d.load()
	was := d.now.Load().config
	if err == nil {
		err = enough(was, c)
	}
	var out Reloaded
	if err == nil {
		out = compare(was, c)
		out.Restart = needRestart(d.config, c)
		done := make(chan error, 1)
		select {
		case d.changed <- change{c, done}:
			err = <-done
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	if err != nil {
		d.log.Error("config not reloaded; the old config stays in effect", "error", err)
		return out, err
	}
	if len(out.Restart) > 0 {
		d.log.Warn("some changes require a restart; the others are applied", "keys", strings.Join(out.Restart, ", "))
	}
	if len(others) > 0 {
		d.log.Warn("unknown variables", "names", strings.Join(others, ", "))
	}
	d.log.Info("config reloaded", "added", strings.Join(out.Added, ", "), "removed", strings.Join(out.Removed, ", "), "changed", strings.Join(out.Changed, ", "),
		"platforms", c.Platforms(), "routes", len(c.Routes), "agents", len(c.Agents), "people", len(c.People), "rules", len(c.Policy))
	return out, nil
}

// settled reports whether every platform is connected or on standby.
func settled(health map[string]bridge.Health) bool {
	for _, h := range health {
		if h.State != bridge.HealthUp && h.State != bridge.HealthStandby {
			return false
		}
	}
	return true
}

// reloadSignals catches each SIGHUP of the process until stop is called. A
// signal during the start of the daemon waits.
func reloadSignals() (hup <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	if reloadSignal != nil {
		signal.Notify(c, reloadSignal)
	}
	return c, func() { signal.Stop(c) }
}

// reloadOnSignal reloads the config on each SIGHUP until ctx ends.
func (d *Daemon) reloadOnSignal(ctx context.Context, hup <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
		}
		_, _ = d.Reload(ctx) // Reload logs the result
	}
}

// reloadHeader is the header with the proof that the caller may request a
// reload: a time, in seconds, and its code under the token key. A user who can
// read that key on the machine of the daemon administers it.
const reloadHeader = "Nod-Reload"

// reloadWindow is the time for which a proof is valid.
const reloadWindow = time.Minute

// reloadCode returns the code that authorizes a reload at a time.
func reloadCode(key []byte, at string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("nod reload\x00" + at))
	return hex.EncodeToString(h.Sum(nil))
}

// ReloadProof returns the header that proves the right to reload the daemon of a
// config: its name and value. It needs the token key, in the config or in the key
// file.
func ReloadProof(c config.Config) (name, value string, err error) {
	var all [][]byte
	if c.TokenKey.Set() {
		all, err = hexKeys("token_key", c.TokenKey)
	} else if c.KeysFile != "" {
		var f keyFile
		if f, err = parseKeyFile(c.KeysFile); err == nil {
			all, err = hexKeys("token_key", config.NewSecret(f.Token))
		}
	}
	if err != nil || len(all) == 0 {
		return "", "", bridge.Errorf(bridge.CodeForbidden, "the config has no token_key, and no key file that this user can read").
			WithHint("run the command as the user of the daemon, or send SIGHUP to the daemon")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	return reloadHeader, at + "." + reloadCode(all[0], at), nil
}

// mayReload reports whether a proof is valid under one of the keys.
func (k keys) mayReload(proof string) bool {
	at, code, _ := strings.Cut(proof, ".")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > reloadWindow {
		return false
	}
	return slices.ContainsFunc(k.token, func(key []byte) bool { return hmac.Equal([]byte(code), []byte(reloadCode(key, at))) })
}

// reloadEntry serves POST /admin/reload.
func (d *Daemon) reloadEntry(k keys) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var out any
		var err error = bridge.Errorf(bridge.CodeForbidden, "the proof is not valid").WithHint("use nod config reload on the machine of the daemon; its clock must be right")
		if k.mayReload(r.Header.Get(reloadHeader)) {
			out, err = d.Reload(r.Context())
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(bridge.HeaderDaemon, "1")
		if err != nil {
			e := bridge.PublicError(err)
			// the caller administers the daemon, so the response may contain
			// the problems
			if e.Code == bridge.CodeInvalid {
				e.Message = strings.TrimPrefix(err.Error(), string(e.Code)+": ")
			}
			w.WriteHeader(e.Code.HTTPStatus())
			out = map[string]any{"error": e}
		}
		_ = json.NewEncoder(w).Encode(out) // the caller may have disconnected
	})
}
