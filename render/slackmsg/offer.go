package slackmsg

import (
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Offer is Note with a button that opens a link. An empty link has no button.
func Offer(s, link string) (string, []slack.Block) {
	text, blocks := Note(s)
	return text, append(blocks, linkTo(link)...)
}

// maxListed is the maximum number of blocks of a list: Slack's limit for a
// message.
const maxListed = 50

// List is Note with a button next to each line that names a card.
func List(s string) (string, []slack.Block) {
	text, blocks := Note(s)
	var list []slack.Block
	entries := 0
	for n, line := range strings.Split(render.Clean(s), "\n") {
		said, link := render.Entry(line)
		if link == "" && strings.TrimSpace(line) == "" {
			continue
		}
		if link == "" {
			list = append(list, richText("", []render.Block{{Kind: render.Paragraph, Spans: render.Noted(line)}}))
			continue
		}
		b := button("nod-open-"+strconv.Itoa(n), "", render.LabelOpen, "")
		b.URL = link
		list = append(list, slack.NewSectionBlock(plain(said, maxSection), nil, slack.NewAccessory(b)))
		entries++
	}
	if entries == 0 || len(list) > maxListed {
		return text, blocks
	}
	return text, list
}

// linkTo returns a button that opens a page for one person.
func linkTo(link string) []slack.Block {
	if link == "" {
		return nil
	}
	b := button("nod-link", "", bridge.LabelSign, slack.StylePrimary)
	b.URL = link
	return []slack.Block{slack.NewActionBlock("", b)}
}

// Closed returns the view that replaces a form after a late submission, or if a
// passkey must sign it. If link is not empty, the view has a button.
func Closed(note, link string) slack.ModalViewRequest {
	said := richText("", []render.Block{render.Para(render.Clean(note))})
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CallbackID + "-closed", Title: plain(render.TitleAnswer, maxModalTitle), Close: plain("Close", maxModalTitle),
		Blocks: slack.Blocks{BlockSet: append([]slack.Block{said}, linkTo(link)...)},
	}
}
