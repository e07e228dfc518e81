package slack

import (
	"context"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

// home shows the Home tab of the app.
type home struct {
	*workspace
	sink bridge.Sink
}

// homeShown is the maximum number of requests in the Home tab.
const homeShown = 20

// show lists the pending requests of a member who opens the Home tab.
func (h home) show(ctx context.Context, user string) {
	lister, ok := h.sink.(bridge.Lister)
	if !ok || user == "" {
		return
	}
	waiting, more, err := lister.Waiting(ctx, bridge.Actor{Platform: h.name, User: user}, homeShown)
	if err == nil {
		view := slackmsg.Home(waiting, more, h.name, h.url(ctx), time.Now())
		_, err = h.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: view})
		err = h.classify("", err)
	}
	if err != nil {
		h.log.Warn("home tab not shown", "platform", h.name, "user", user, "error", err)
	}
}
