package slackmsg

import (
	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Offer is Note with a button that opens a link. An empty link has no button.
func Offer(s, link string) (string, []slack.Block) {
	text, blocks := Note(s)
	return text, append(blocks, linkTo(link)...)
}

// linkTo returns a button that opens a page where only one person can continue.
func linkTo(link string) []slack.Block {
	if link == "" {
		return nil
	}
	b := button("nod-link", "", bridge.LabelSign, slack.StylePrimary)
	b.URL = link
	return []slack.Block{slack.NewActionBlock("", b)}
}

// Closed returns the view that replaces a form which was submitted too late, or
// that has to be signed. A link that is not empty has a button.
func Closed(note, link string) slack.ModalViewRequest {
	said := richText("", []render.Block{render.Para(render.Clean(note))})
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CallbackID + "-closed", Title: plain(render.TitleAnswer, maxModalTitle), Close: plain("Close", maxModalTitle),
		Blocks: slack.Blocks{BlockSet: append([]slack.Block{said}, linkTo(link)...)},
	}
}
