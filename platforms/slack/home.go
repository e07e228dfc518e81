package slack

import (
	"context"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

// challenge is the response that proves to Slack that a URL belongs to nod.
type challenge struct {
	Challenge string `json:"challenge"`
}

// homeShown is the maximum number of requests in the Home tab.
const homeShown = 20

// home lists the pending requests of a member who opens the Home tab.
func (p *Platform) home(ctx context.Context, sink bridge.Sink, user string) {
	lister, ok := sink.(bridge.Lister)
	if !ok || user == "" {
		return
	}
	waiting, more, err := lister.Waiting(ctx, bridge.Actor{Platform: p.name, User: user}, homeShown)
	if err == nil {
		view := slackmsg.Home(waiting, more, p.name, p.workspace(ctx), time.Now())
		_, err = p.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: view})
		err = p.classify("", err)
	}
	if err != nil {
		p.log.Warn("home tab not shown", "platform", p.name, "user", user, "error", err)
	}
}

// workspace returns the URL of the workspace, for links to cards. It is empty
// if Slack does not return it.
func (p *Platform) workspace(ctx context.Context) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.team == "" {
		me, err := p.api.AuthTestContext(ctx)
		if err != nil {
			return ""
		}
		p.team = strings.TrimRight(me.URL, "/") + "/"
	}
	return p.team
}
