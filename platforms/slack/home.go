package slack

import (
	"context"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

// challenge is the answer by which Slack knows that an address is ours.
type challenge struct {
	Challenge string `json:"challenge"`
}

// homeShown bounds what the Home tab lists.
const homeShown = 20

// home shows a member who opens the Home tab what waits for them.
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
		p.log.Warn("Home tab not shown", "platform", p.name, "user", user, "error", err)
	}
}

// workspace is the address of the workspace, for links to cards; empty: it is
// not known right now.
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
