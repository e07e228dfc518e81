package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms"
)

const (
	maxBody = 1 << 20
	window  = 5 * time.Minute // accepted age of a signed request; Discord specifies none
)

// endpoint verifies the interactions that Discord sends over HTTP. It is safe
// for concurrent use.
type endpoint struct {
	key  ed25519.PublicKey
	log  *slog.Logger
	seen platforms.Seen // recent interactions, to detect replays
}

// serve returns the handler of the endpoint. It responds with 401 to requests
// that Discord did not sign. Discord tests this.
func (e *endpoint) serve(in *inbound) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if !discordgo.VerifyInteraction(r, e.key) || !fresh(r.Header.Get("X-Signature-Timestamp")) {
			e.log.Warn("request with a bad signature")
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		raw, err := io.ReadAll(r.Body)
		var head struct {
			ID   string                    `json:"id"`
			Type discordgo.InteractionType `json:"type"`
		}
		if err != nil || json.Unmarshal(raw, &head) != nil {
			http.Error(w, "bad interaction", http.StatusBadRequest)
			return
		}
		if head.Type == discordgo.InteractionPing {
			w.Header().Set("Content-Type", "application/json")
			if _, err := io.WriteString(w, `{"type":1}`); err != nil {
				e.log.Debug("ping not answered", "error", err)
			}
			return
		}
		if !e.seen.First(head.ID, 2*window) {
			http.Error(w, "replayed", http.StatusUnauthorized)
			return
		}
		ctx := context.WithoutCancel(r.Context())
		if then := in.handle(ctx, raw); then != nil {
			then(ctx)
		}
		w.WriteHeader(http.StatusAccepted) // the reply goes to the callback route
	})
}

// fresh reports whether the time of a signature is close to now.
func fresh(timestamp string) bool {
	n, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Since(time.Unix(n, 0))
	return err == nil && age < window && age > -window
}
