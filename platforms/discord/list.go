package discord

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

// listings are the commands that reply with a list. They change nothing, so a
// click on a page button runs the command again, with the current rights of the
// person.
var listings = []string{"pending", "mine", "grants", "sessions"}

// pageButton starts the custom ID of a page button: "page COMMAND NUMBER". No
// token of a card contains a space.
const pageButton = "page "

// turned returns the command and the page of a click on a page button. Page
// buttons are only on ephemeral messages, and the reply replaces the message.
func (in interaction) turned() (command string, page int, ok bool) {
	rest, ok := strings.CutPrefix(in.Data.CustomID, pageButton)
	if !ok || !in.private() {
		return "", 0, false
	}
	command, number, _ := strings.Cut(rest, " ")
	page, err := strconv.Atoi(number)
	return command, page, err == nil && slices.Contains(listings, command)
}

// listPage returns one page of a list, with buttons to adjacent pages. If the
// list has become shorter, it returns the last page.
func listPage(command, list string, page int) discordmsg.Message {
	pages := paginate(list)
	page = min(max(page, 0), len(pages)-1)
	m := discordmsg.List(pages[page])
	var row []discordgo.MessageComponent
	button := func(label string, to int) {
		row = append(row, discordgo.Button{
			Label: label, Style: discordgo.SecondaryButton, CustomID: pageButton + command + " " + strconv.Itoa(to),
		})
	}
	if page > 0 {
		button(render.LabelBack, page-1)
	}
	if page < len(pages)-1 {
		button(fmt.Sprintf("%s (%d of %d)", render.LabelNext, page+2, len(pages)), page+1)
	}
	if row != nil {
		m.Components = append(m.Components, discordgo.ActionsRow{Components: row})
	}
	return m
}

// paginate splits a text into pages that fit into a message, between lines if
// possible. Line breaks at the ends of a page are dropped, because Discord
// refuses a message without visible text.
func paginate(text string) []string {
	var pages []string
	page := ""
	entries := 0
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if _, link := render.Entry(strings.TrimSpace(line)); link != "" {
			if entries++; entries > discordmsg.MaxEntries {
				pages, page, entries = append(pages, strings.Trim(page, "\n")), "", 1
			}
		}
		for !fits(page + line) {
			if strings.TrimSpace(page) == "" { // the line is longer than a message
				runes := []rune(line)
				n := sort.Search(len(runes), func(n int) bool { return !fits(string(runes[:n+1])) })
				page, line = string(runes[:n]), string(runes[n:])
			}
			pages, page = append(pages, strings.Trim(page, "\n")), ""
		}
		page += line
	}
	return append(pages, strings.Trim(page, "\n"))
}

// fits reports whether a note with the text needs no file.
func fits(text string) bool { return discordmsg.Note(strings.Trim(text, "\n")).File == nil }
