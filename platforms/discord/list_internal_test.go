package discord

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/render/discordmsg"
)

// TestPageButtons checks that only a page button of a list, on an ephemeral
// message, runs a command. Anything else goes to the sink as a click.
func TestPageButtons(t *testing.T) {
	t.Parallel()
	p, err := New(Options{BotToken: "x", HTTPClient: platformtest.Nowhere()})
	if err != nil {
		t.Fatal(err)
	}
	var sink platformtest.Recorder
	in := p.inbound(&sink)
	for name, x := range map[string]struct {
		id    string
		flags int
		runs  bool
	}{
		"page of a list":   {"page pending 1", 64, true},
		"page below zero":  {"page mine -3", 64, true},
		"on a card":        {"page pending 1", 0, false},
		"changing command": {"page stop 1", 64, false},
		"with an argument": {"page show 0193 1", 64, false},
		"without a page":   {"page pending", 64, false},
		"token":            {"AQ", 64, false},
	} {
		sink.Reset()
		var click interaction
		raw, err := json.Marshal(map[string]any{
			"type": discordgo.InteractionMessageComponent, "channel_id": "2",
			"message": map[string]any{"id": "4", "flags": x.flags}, "data": map[string]any{"custom_id": x.id},
		})
		if err != nil || json.Unmarshal(raw, &click) != nil {
			t.Fatal(err)
		}
		r, _ := in.respond(t.Context(), click)
		if got := len(sink.Commands()) == 1 && len(sink.Clicks()) == 0; got != x.runs {
			t.Errorf("%s: runs a command: %v", name, got)
		}
		if got := r.Type == discordgo.InteractionResponseUpdateMessage; got != x.runs {
			t.Errorf("%s: replaces the message: %v", name, got)
		}
	}
}

// TestPaginate checks that pages fit into a message and that nothing is lost
// between them.
func TestPaginate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"one line", strings.Repeat("*é* line\n", 2000) + "end", strings.Repeat("日本", 9000),
		strings.Repeat("x", 4000) + "\n" + strings.Repeat("y", 4001) + "\nz", strings.Repeat("a", 4000) + "\n\n\n",
	} {
		pages := paginate(text)
		want := strings.ReplaceAll(text, "\n", "")
		if got := strings.ReplaceAll(strings.Join(pages, ""), "\n", ""); got != want {
			t.Errorf("%.20q: %d characters became %d", text, len(want), len(got))
		}
		for n, page := range pages {
			if discordmsg.Note(page).File != nil || strings.TrimSpace(page) == "" {
				t.Errorf("%.20q: page %d of %d has %d characters", text, n+1, len(pages), len(page))
			}
		}
	}
}

// TestCommandWords checks that the words of a command have the order of its
// options, in whatever order a person fills them in.
func TestCommandWords(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`{"name":"tell","options":[{"name":"session","value":"s1"},{"name":"text","value":"stop now"}]}`: "tell s1 stop now",
		`{"name":"tell","options":[{"name":"text","value":"stop now"},{"name":"session","value":"s1"}]}`: "tell s1 stop now",
		`{"name":"link","options":[{"name":"confirm","value":"yes"},{"name":"code","value":"x"}]}`:       "link x yes",
		`{"name":"show","options":[{"name":"id","value":""}]}`:                                           "show ",
		`{"name":"who"}`: "who",
	} {
		var in interaction
		if err := json.Unmarshal([]byte(`{"type":2,"data":{"name":"nod","options":[`+options+`]}}`), &in); err != nil {
			t.Fatal(err)
		}
		if got := in.command(); got != want {
			t.Errorf("%s: %q, want %q", options, got, want)
		}
	}
}
