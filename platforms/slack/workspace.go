package slack

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms"
)

// workspace is nod's app in a workspace of Slack. All parts of a Platform share
// it.
type workspace struct {
	name   string
	api    *slack.Client
	http   *http.Client
	log    *slog.Logger
	health platforms.HealthBox
	posts  *platforms.Pacer
	edits  *platforms.Pacer

	console    bool   // whether the console is on
	consoleURL string // URL of nod, for links to the console; may be empty
	// daemons returns the number of daemons of the installation. Nil means one.
	daemons func(context.Context) (int, error)

	seen platforms.Seen // messages that nod has answered

	mu sync.Mutex
	me slack.AuthTestResponse // empty until Slack has returned it
}

// check returns an error if Slack does not accept the bot token.
func (w *workspace) check(ctx context.Context) error {
	me, err := w.api.AuthTestContext(ctx)
	if err == nil {
		w.know(*me)
	}
	return w.classify("", err)
}

// self returns nod's identity in the workspace. It is empty if Slack does not
// return it.
func (w *workspace) self(ctx context.Context) slack.AuthTestResponse {
	if me := w.known(); me.UserID != "" {
		return me
	}
	me, err := w.api.AuthTestContext(ctx)
	if err != nil {
		return slack.AuthTestResponse{}
	}
	w.know(*me)
	return *me
}

// known returns the identity without a call.
func (w *workspace) known() slack.AuthTestResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.me
}

func (w *workspace) know(me slack.AuthTestResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.me = me
}

// url returns the URL of the workspace, for links to cards. It is empty if
// Slack does not return it.
func (w *workspace) url(ctx context.Context) string {
	if me := w.self(ctx); me.URL != "" {
		return strings.TrimRight(me.URL, "/") + "/"
	}
	return ""
}
