package discordmsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Message is a card in Discord's format.
type Message struct {
	// Components holds the complete message: its text, its file and its
	// controls.
	Components []discordgo.MessageComponent
	// Push is the text of the notification, with the mentions. A message of
	// components has no text for notifications.
	Push string
	// Users and Roles are the IDs of the users and roles that the message may
	// mention.
	Users []string `json:",omitempty"`
	Roles []string `json:",omitempty"`
	// File holds the full text if the card cannot. Components shows the file.
	File *File
	// Closed means that the card has no controls, because nothing on it is
	// pending.
	Closed bool
}

// File is an attachment.
type File struct {
	Name string
	Data []byte
}

// Colors of the edge of a card.
const (
	colourPending = 0xF0B232
	colourYes     = 0x248046
	colourOther   = 0x80848E
	colourWorking = 0x5865F2
)

// Texts on a card that is incomplete.
const (
	textAttached  = textShortened + textInFile
	textInFile    = " The file has the full text."
	textShortened = render.TextShortened
	textOnCard    = textShortened + " The card has the full text."
)

// maxExtent is the maximum length of the text that describes an excerpt.
const maxExtent = 40

// maxExcerpt is the length of the excerpt on the card if the text is attached.
// On a phone, more would push the file and the controls out of sight.
const maxExcerpt = 1200

// minBody is the minimum length that must remain for the text of a request. If
// less remains, the text that nod adds is too long.
const minBody = 1000

// Build writes a view as a message. It returns CodeUnsupported if the view does
// not fit.
func Build(v bridge.View) (Message, error) { return build(v, true) }

// BuildShort writes the view of a closed card without its file, for a channel
// that no longer accepts files. It returns CodeUnsupported if the view does not
// fit.
func BuildShort(v bridge.View) (Message, error) {
	m, err := build(v, false)
	if err == nil && !m.Closed {
		return m, bridge.Errorf(bridge.CodeUnsupported, "discord: a pending request cannot be shown without its file")
	}
	return m, err
}

func build(v bridge.View, attach bool) (Message, error) {
	c := render.NewCard(v, listed)
	m := Message{Closed: c.Closed}
	m.push(v, c)
	head := "### " + inline(c.Head)
	foot := status(v, c)
	room := maxText - cost(head) - cost(foot) - cost(textAttached) - maxExtent - 2
	if room < minBody {
		return m, bridge.Errorf(bridge.CodeUnsupported, "discord: the notes on the card leave only %d characters for its text", room)
	}
	body, extent, whole := description(c, room)
	if v.Record.Interaction.Approval == nil { // otherwise, it has no options
		if full, _, fits := description(render.NewCard(v, listsAll(v)), room); fits {
			body = full
		}
	}
	parts := []discordgo.MessageComponent{text(strings.TrimRight(head+"\n"+body, "\n"))}
	switch {
	case !whole && attach:
		data := []byte(c.FullText())
		if len(data) > maxFile {
			return m, bridge.Errorf(bridge.CodeUnsupported, "discord: the text has %d bytes, more than %d", len(data), maxFile)
		}
		m.File = &File{Name: "request-" + v.Record.Interaction.ID.Short() + ".txt", Data: data}
		parts, foot = append(parts, fileOf(m.File)), render.Shortened(extent)+textInFile+"\n"+foot
	case !whole:
		foot = textShortened + "\n" + foot
	}
	parts = append(parts, text(foot))
	m.Components = container(colour(v, c.Closed), append(parts, controls(v, c)...))
	if n := count(m.Components); n > maxComponents {
		return m, bridge.Errorf(bridge.CodeUnsupported, "discord: the card has %d components, more than %d", n, maxComponents)
	}
	return m, nil
}

// push sets the text of the notification. A closed card mentions no one.
func (m *Message) push(v bridge.View, c render.Card) {
	pings := ""
	if !c.Closed {
		for _, who := range v.Mentions {
			pings += " " + mention(who)
			if who.Group != "" {
				m.Roles = append(m.Roles, role(who))
			} else {
				m.Users = append(m.Users, who.User)
			}
		}
	}
	m.Push = render.Cut(Escape(c.Notice), maxPush-render.Runes(pings), render.Runes) + pings
}

// mention returns the markup that notifies a user or a role.
func mention(m bridge.Mention) string {
	if m.Group != "" {
		return "<@&" + role(m) + ">"
	}
	return "<@" + m.User + ">"
}

// role returns the ID of the role of a group with the form GUILD/ROLE.
func role(m bridge.Mention) string {
	_, id, _ := strings.Cut(m.Group, "/")
	return id
}

// status returns the text below the request: its state, its deadline, and who
// asks.
func status(v bridge.View, c render.Card) string {
	var lines []string
	if !c.Closed {
		for _, note := range render.Notes(v) {
			lines = append(lines, Escape(note))
		}
	}
	lines = append(lines, "-# "+Escape(render.Cut(c.From, render.MaxFrom, render.Runes)))
	if !c.Closed {
		lines = append(lines, "-# "+due(c))
	}
	return strings.Join(lines, "\n")
}

// due returns the line with the deadline and the people who can answer.
func due(c render.Card) string {
	var b strings.Builder
	for _, s := range c.Due {
		if s.Mention != nil {
			b.WriteString(mention(*s.Mention))
			continue
		}
		b.WriteString(inline([]render.Span{s}))
		if s.Time != 0 {
			fmt.Fprintf(&b, " (<t:%d:R>)", s.Time)
		}
	}
	return b.String()
}

// cost returns how much of the limit for text, in characters, a text uses. A
// text of many bytes uses more than its number of characters.
func cost(s string) int {
	return max(render.Runes(s), (len(s)*maxText+maxTextBytes-1)/maxTextBytes)
}

func text(s string) discordgo.MessageComponent { return discordgo.TextDisplay{Content: s} }

func fileOf(f *File) discordgo.MessageComponent {
	return discordgo.FileComponent{File: discordgo.UnfurledMediaItem{URL: "attachment://" + f.Name}}
}

func container(colour int, parts []discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.Container{AccentColor: &colour, Components: parts}}
}

// count returns the number of components in Discord's way of counting.
func count(all []discordgo.MessageComponent) int {
	n := len(all)
	for _, c := range all {
		switch c := c.(type) {
		case discordgo.Container:
			n += count(c.Components)
		case discordgo.ActionsRow:
			n += count(c.Components)
		}
	}
	return n
}

func colour(v bridge.View, closed bool) int {
	switch {
	case render.IsSession(v):
		return sessionColour(v)
	case !closed:
		return colourPending
	case render.ChangesAsked(v.Record):
		return colourOther
	}
	switch v.Record.State {
	case bridge.StateApproved, bridge.StateAnswered:
		return colourYes
	}
	return colourOther
}

func sessionColour(v bridge.View) int {
	if v.Session == nil {
		return colourOther
	}
	switch render.PhaseOf(*v.Session) {
	case render.PhaseWorking:
		return colourWorking
	case render.PhaseWaiting:
		return colourPending
	case render.PhaseFinished:
		return colourYes
	}
	return colourOther
}

// description writes the text of the card within limit. It returns the extent
// that the text shows, and reports whether that is everything.
func description(c render.Card, limit int) (text, extent string, whole bool) {
	full := join(Markdown(c.Body), Markdown(c.Questions), Markdown(c.Closing))
	if cost(full) <= limit {
		return full, "", true
	}
	// This shortens only the words of agents and people. The names of the
	// people who decided stay readable.
	closing := clip(c.Closing, 900)
	rest := min(limit-cost(closing)-10, maxExcerpt)
	questions := clip(c.Questions, rest/2)
	body, extent := clipped(c.Body, rest-cost(questions))
	return join(body, questions, closing), extent, false
}

// clip writes a document within limit. If it must cut a block, the block
// becomes a code block.
func clip(doc []render.Block, limit int) string {
	s, _ := clipped(doc, limit)
	return s
}

// clipped is clip, and also returns the extent of the document that it shows.
func clipped(doc []render.Block, limit int) (s, extent string) {
	if s = Markdown(doc); cost(s) <= limit {
		return s, ""
	}
	size := func(doc []render.Block) int { return cost(Markdown(doc)) }
	start := render.Excerpt(doc, limit, size, cost)
	if s = Markdown(start); s != "" && cost(s) <= limit {
		return s, render.Extent(doc, start)
	}
	text := strings.ReplaceAll(render.PlainText(doc), "```", "'''")
	return codeBlock(render.Cut(text, limit-12, cost), ""), ""
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// Note returns a message with a text for one person. A text that is too long
// for a message is attached.
func Note(s string) Message {
	s = render.Clean(s)
	shown := inline(render.Noted(s))
	if cost(shown) <= maxText {
		return Message{Components: []discordgo.MessageComponent{text(shown)}}
	}
	f := &File{Name: "answer.txt", Data: []byte(s + "\n")}
	return Message{File: f, Components: []discordgo.MessageComponent{
		text(render.Cut(shown, maxText-cost(textAttached), cost)), text(textAttached),
		fileOf(f),
	}}
}

// MaxEntries is the maximum number of lines with a button in a message.
const MaxEntries = 10

// List is Note with a button next to each line that names a card.
func List(s string) Message {
	var parts []discordgo.MessageComponent
	entries := 0
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		said, link := render.Entry(line)
		if link == "" {
			if strings.TrimSpace(line) != "" {
				parts = append(parts, text(inline(render.Noted(render.Clean(line)))))
			}
			continue
		}
		parts = append(parts, discordgo.Section{
			Components: []discordgo.MessageComponent{text(Escape(render.Clean(said)))},
			Accessory:  discordgo.Button{Label: render.LabelOpen, Style: discordgo.LinkButton, URL: link},
		})
		entries++
	}
	if entries == 0 || entries > MaxEntries || len(parts) > 2*MaxEntries {
		return Note(s)
	}
	return Message{Components: parts}
}

// Offer is Note with a button that opens a link. An empty link has no button.
func Offer(s, link string) Message {
	m := Note(s)
	if link != "" {
		m.Components = append(m.Components, discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: bridge.LabelSign, Style: discordgo.LinkButton, URL: link},
		}})
	}
	return m
}

// NoteShort is Note without a file, for a channel that accepts none. It cuts a
// text that is too long.
func NoteShort(s string) Message {
	shown := inline(render.Noted(render.Clean(s)))
	if cost(shown) > maxText {
		shown = render.Cut(shown, maxText-cost(textShortened)-1, cost) + "\n" + textShortened
	}
	return Message{Components: []discordgo.MessageComponent{text(shown)}}
}

// Progress returns the private message after a page of a form: a button for the
// next page, a correction of this page, or, after the last page, the review.
func Progress(v bridge.View, note string, page int) Message {
	i := v.Record.Interaction
	if i.Kind == bridge.KindApproval { // an approval has no pages
		return Note(note)
	}
	pages := Pages(i)
	var row []discordgo.MessageComponent
	if page > 0 && page <= len(pages) {
		row = append(row, button(v.Token(bridge.ActionInput, 0, bridge.OptionPage+page-1), render.LabelBack, discordgo.SecondaryButton))
	}
	said := render.Cut(Escape(render.Clean(note)), maxText/2, cost)
	switch {
	case i.LonePlan():
		row = append(row, button(v.Token(bridge.ActionInput, 1, bridge.OptionForm), render.LabelChanges, discordgo.PrimaryButton))
	case page < len(pages):
		label := fmt.Sprintf("Continue (%d of %d)…", page+1, len(pages))
		row = append(row, button(v.Token(bridge.ActionInput, 0, bridge.OptionPage+page), label, discordgo.PrimaryButton))
	default:
		review := render.Cut(Markdown(render.Review(v)), maxText-cost(said)-2, cost)
		said = strings.TrimLeft(said+"\n\n"+review, "\n")
		row = append(row, button(v.Token(bridge.ActionSubmit, 0, bridge.OptionForm), render.LabelSubmit, discordgo.SuccessButton))
	}
	return Message{Components: container(colourPending, append([]discordgo.MessageComponent{text(said)}, rows(row)...))}
}
