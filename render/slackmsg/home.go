package slackmsg

import (
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// homeMost is how many requests the Home tab lists: each takes three blocks of
// the 100 that a view has.
const homeMost = 25

// Home is what a member sees in the app's Home tab: what waits for them, with
// the way to each card. Team is the address of the workspace, with a slash at
// its end, and platform the one whose cards can be opened.
func Home(waiting []bridge.Record, more bool, platform, team string, now time.Time) slack.HomeTabViewRequest {
	title := "Nothing waits for you"
	if n := len(waiting); n > 0 {
		title = fmt.Sprintf("%d waiting for you", n)
		if n == 1 {
			title = "One request waits for you"
		}
		if more {
			title = fmt.Sprintf("%d and more waiting for you", n)
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
		slack.NewContextBlock("", plain("As of "+now.UTC().Format("15:04 UTC")+". Open this tab again to see it anew; /"+bridge.CommandName+" help says what else there is.", maxSection)),
	)}}
}

// cardLink is where the card of a request is on a platform; empty: nowhere.
func cardLink(r bridge.Record, platform, team string) string {
	for n, d := range r.Interaction.Destinations {
		ref, posted := r.Messages[n]
		if posted && d.Platform == platform && team != "" {
			return team + "archives/" + ref.Channel + "/p" + strings.ReplaceAll(ref.Message, ".", "")
		}
	}
	return ""
}
