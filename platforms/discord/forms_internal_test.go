package discord

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/render/rendertest"
)

// privately returns the data of a reply, which must be a private message.
func privately(t *testing.T, r reply) string {
	t.Helper()
	raw, err := json.Marshal(r.Data)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Flags discordgo.MessageFlags }
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if r.Type != discordgo.InteractionResponseChannelMessageWithSource || got.Flags&discordgo.MessageFlagsEphemeral == 0 {
		t.Errorf("a message of type %d for everyone: %.300s", r.Type, raw)
	}
	return string(raw)
}

// TestFormFails checks that a person whose form cannot open, or is not recorded, reads why.
func TestFormFails(t *testing.T) {
	t.Parallel()
	forms := map[string]bridge.Form{}
	for _, f := range rendertest.Forms() {
		forms[f.Name] = f.Form
	}
	long := strings.Repeat("x", 9_000_000)
	menu := forms["edit-check"]
	menu.View.Draft = &bridge.Draft{Input: `{"command":"` + long + `"}`}
	menu.Control.Option = bridge.EditedOption(menu.View.Draft.Input)
	page := forms["reason"]
	page.View.Record.Interaction.Kind = bridge.KindAsk
	page.Control.Option = bridge.OptionPage + 9
	private := forms["approval"]
	private.Control.Action, private.Control.Option = bridge.ActionInput, bridge.OptionReview
	private.View.Record.Interaction.Prompt = long
	var sink platformtest.Recorder
	fs := formsOf(&sink)
	for name, x := range map[string]struct {
		form bridge.Form
		err  error
		want string
	}{
		"not recorded": {err: errors.New("unreachable"), want: bridge.NoteNotRecorded},
		"unconfirmed":  {err: bridge.ErrUnconfirmed, want: bridge.NoteUnconfirmed},
		"long menu":    {form: menu, want: "bytes, more than"},
		"no such page": {form: page, want: "there is no page"},
		"long private": {form: private, want: "bytes, more than"},
	} {
		sink.Shows(x.form, x.err)
		if got := privately(t, fs.open(t.Context(), bridge.Click{})); !strings.Contains(got, x.want) {
			t.Errorf("%s: the person reads %.300s", name, got)
		}
	}
	for name, x := range map[string]struct {
		verdict bridge.Verdict
		err     error
		want    string
	}{
		"not recorded": {err: errors.New("unreachable"), want: bridge.NoteNotRecorded},
		"long review":  {verdict: bridge.Verdict{Kind: bridge.VerdictReview, Review: &menu}, want: "bytes, more than"},
	} {
		sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return x.verdict, x.err })
		if got := privately(t, fs.submitted(t.Context(), interaction{}, bridge.Click{})); !strings.Contains(got, x.want) {
			t.Errorf("submitted, %s: the person reads %.300s", name, got)
		}
	}
}

func formsOf(sink bridge.Sink) forms { return forms{sink: sink, log: slog.New(slog.DiscardHandler)} }

// TestFollowUp checks what a person reads after another program responded to the
// click: everything that the reply says, in a private message.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	forms := rendertest.Forms()
	at := slices.IndexFunc(forms, func(f rendertest.Form) bool { return f.Name == "reason" })
	var sink platformtest.Recorder
	sink.Shows(forms[at].Form, nil)
	for name, x := range map[string]struct {
		reply reply
		want  string
	}{
		"note":     {note("not yours"), "not yours"},
		"list":     {redraw(listPage("mine", "1 request", 0)), "1 request"},
		"modal":    {formsOf(&sink).open(t.Context(), bridge.Click{}), noteNotOpened},
		"deferred": {deferred, ""},
	} {
		data, shows := x.reply.followUp()
		if shows != (x.want != "") {
			t.Errorf("%s: shows something: %v", name, shows)
		}
		if !shows {
			continue
		}
		got := privately(t, reply{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: data})
		if !strings.Contains(got, x.want) || strings.Contains(got, `"embeds"`) { // a new message has no embeds to clear
			t.Errorf("%s: the person reads %s", name, got)
		}
	}
}
