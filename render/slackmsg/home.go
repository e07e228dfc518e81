package slackmsg

import (
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// homeMost is the maximum number of requests in the Home tab. Each takes three
// of the 100 blocks of a view.
const homeMost = 25

// Home returns the Home tab of a member: the member's pending requests, with a
// link to each card. Team is the URL of the workspace, with a trailing slash.
// Platform is the name of the platform whose cards are linked.
func Home(waiting []bridge.Record, more bool, platform, team string, now time.Time) slack.HomeTabViewRequest {
	title := "No pending requests"
	if n := len(waiting); n > 0 {
		title = fmt.Sprintf("%d pending requests", n)
		if n == 1 {
			title = "1 pending request"
		}
		if more {
			title = fmt.Sprintf("More than %d pending requests", n)
		}
	}
	blocks := []slack.Block{slack.NewHeaderBlock(plain(title, maxHeader))}
	for n, r := range waiting[:min(len(waiting), homeMost)] {
		i := r.Interaction
		ask := slack.NewSectionBlock(plain(render.Cut(render.Line(i.Prompt), maxHomeText, render.UTF16), maxSection), nil, nil)
		if link := cardLink(r, platform, team); link != "" {
			open := slack.NewButtonBlockElement(fmt.Sprintf("open-%d", n), "", plain("Open", maxButton))
			open.URL = link
			ask.Accessory = slack.NewAccessory(open)
		}
		left := i.Remaining(now).Round(time.Minute)
		when := "less than a minute left"
		if left >= time.Minute {
			when = strings.TrimSuffix(left.String(), "0s") + " left"
		}
		blocks = append(blocks, ask, slack.NewContextBlock("", plain(render.Line(i.Agent)+" · "+when, maxSection)), slack.NewDividerBlock())
	}
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: append(blocks,
		slack.NewContextBlock("", plain("As of "+now.UTC().Format("15:04 UTC")+". Open this tab again to update it. /"+bridge.CommandName+" help lists the commands.", maxSection)),
	)}}
}

// cardLink returns the URL of the card of a request on a platform. It is empty
// if there is no card.
func cardLink(r bridge.Record, platform, team string) string {
	for n, d := range r.Interaction.Destinations {
		ref, posted := r.Messages[n]
		if posted && d.Platform == platform && team != "" {
			return team + "archives/" + ref.Channel + "/p" + strings.ReplaceAll(ref.Message, ".", "")
		}
	}
	return ""
}
