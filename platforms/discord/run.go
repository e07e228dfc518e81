package discord

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	maxBody = 1 << 20
	window  = 5 * time.Minute // accepted age of a signed request; Discord specifies none
)

// Run implements bridge.Platform.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error {
	check := func(ctx context.Context) error {
		return p.do(ctx, http.MethodGet, discordgo.EndpointUser("@me"), nil, nil)
	}
	if p.key != nil {
		return platforms.Watch(ctx, &p.health, func(ctx context.Context) error {
			err := check(ctx)
			if err == nil {
				p.register(ctx)
			}
			return err
		})
	}
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { platforms.Recheck(ctx, &p.health, check) })
	return p.runGateway(ctx, sink)
}

// Handler serves the interactions endpoint of HTTP mode. It responds with 401 to
// requests that Discord did not sign. Discord tests this.
func (p *Platform) Handler(sink bridge.Sink) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.key == nil || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if !discordgo.VerifyInteraction(r, p.key) || !fresh(r.Header.Get("X-Signature-Timestamp")) {
			p.log.Warn("request with a bad signature", "platform", p.name)
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		raw, err := io.ReadAll(r.Body)
		var in struct {
			ID   string `json:"id"`
			Type int    `json:"type"`
		}
		if err != nil || json.Unmarshal(raw, &in) != nil {
			http.Error(w, "bad interaction", http.StatusBadRequest)
			return
		}
		if in.Type == typePing {
			w.Header().Set("Content-Type", "application/json")
			if _, err := io.WriteString(w, `{"type":1}`); err != nil {
				p.log.Debug("ping not answered", "platform", p.name, "error", err)
			}
			return
		}
		if p.replayed(in.ID) {
			http.Error(w, "replayed", http.StatusUnauthorized)
			return
		}
		p.handle(context.WithoutCancel(r.Context()), sink, raw)
		w.WriteHeader(http.StatusAccepted) // the reply goes to the callback route
	})
}

func fresh(timestamp string) bool {
	n, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Since(time.Unix(n, 0))
	return err == nil && age < window && age > -window
}

// replayed reports whether the interaction was handled before, while its
// signature was valid.
func (p *Platform) replayed(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for k, at := range p.seen {
		if now.Sub(at) > 2*window {
			delete(p.seen, k)
		}
	}
	if _, ok := p.seen[id]; ok {
		return true
	}
	p.seen[id] = now
	return false
}
