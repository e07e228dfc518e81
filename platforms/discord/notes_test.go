package discord_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestReminders checks that a reminder arrives if its text is long, names many
// people or one person twice, and without Read Message History.
func TestReminders(t *testing.T) {
	t.Parallel()
	var many []string
	for n := range 120 {
		many = append(many, strconv.Itoa(300000000000000001+n))
	}
	const ana = "300000000000000001"
	for name, x := range map[string]struct {
		reminder bridge.Reminder
		missing  string
	}{
		"long":       {bridge.Reminder{Text: "waiting " + strings.Repeat("*", 3000)}, ""},
		"many":       {bridge.Reminder{Users: many, Text: "waiting"}, ""},
		"twice":      {bridge.Reminder{Users: []string{ana, ana}, Text: "waiting"}, ""},
		"no history": {bridge.Reminder{Text: "waiting"}, "READ_MESSAGE_HISTORY"},
	} {
		d := newDiscordDesk(t)
		ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
		if err != nil {
			t.Fatal(err)
		}
		d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: x.missing})
		if err := d.p.Remind(t.Context(), bridge.Destination{Channel: ref.Channel}, ref, x.reminder); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, c := range d.Sandbox.Chats("discord") {
			if c.ID == ref.Channel && !strings.Contains(sandbox.Texts(c.Messages[len(c.Messages)-1]), "waiting") {
				t.Errorf("%s: the reminder is missing", name)
			}
		}
	}
}

// clicked lets ana click a card whose click has a verdict, and returns the last
// ephemeral reply.
func (d *discordDesk) clicked(ref bridge.MessageRef, answer func(bridge.Click) (bridge.Verdict, error)) string {
	d.T.Helper()
	d.sink.Answers(answer)
	ana := d.Sandbox.Person("ana")
	if r, err := ana.Press(d.Ctx, d.Place(ref), "Run command"); err != nil || !r.OK {
		d.T.Fatalf("the click: %+v %v", r, err)
	}
	places := ana.PrivatePlaces("discord")
	if len(places) == 0 {
		return ""
	}
	return ana.Sees(places[len(places)-1])
}

// TestLongNotes checks that a reply too long for a message arrives, cut if the
// bot may not attach files, and that its text is cleaned.
func TestLongNotes(t *testing.T) {
	t.Parallel()
	d := running(t, nil)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	says := func(text string) func(bridge.Click) (bridge.Verdict, error) {
		return func(bridge.Click) (bridge.Verdict, error) {
			return bridge.Verdict{Kind: bridge.VerdictNoted, Note: text}, nil
		}
	}
	long := "first " + strings.Repeat("*pending* request\n", 500) + "last"
	if got := d.clicked(ref, says(long)); !strings.Contains(got, "first") || !strings.Contains(got, "last") {
		t.Errorf("a long note says %.300q", got)
	}
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	if got := d.clicked(ref, says(long)); !strings.Contains(got, "first") || !strings.Contains(got, "Shortened") {
		t.Errorf("a long note without a file says %.300q", got)
	}
	if got := d.clicked(ref, says("by \u202eanA\u2066")); strings.ContainsAny(got, "\u202e\u2066") {
		t.Errorf("a note has invisible characters: %q", got)
	}
}

// TestReplyKeepsCard checks that the reply to a click does not overwrite an
// edit of the card that was made before the reply arrived.
func TestReplyKeepsCard(t *testing.T) {
	t.Parallel()
	d := running(t, nil)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.clicked(ref, func(bridge.Click) (bridge.Verdict, error) {
		err := d.p.Update(t.Context(), ref, round(0, "make deploy", bridge.StateApproved), nil)
		view := round(0, "make deploy", bridge.StatePending)
		return bridge.Verdict{Kind: bridge.VerdictSettled, View: &view}, err
	})
	d.want(ref, "Approved by", false)
}

// TestNoticeTakesOneRequest checks that a notice is posted in one request, with
// its file, silently, and without it if the bot may not attach files.
func TestNoticeTakesOneRequest(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	notice := func(text string) bridge.View {
		v := round(0, "x", bridge.StatePending)
		v.Record.Interaction.Kind, v.Record.Interaction.Approval = bridge.KindNotice, nil
		v.Record.Interaction.ID = bridge.ID("0193b3c4-7d5e-7a10-8f00-" + text[:5])
		v.Record.Interaction.Prompt = text
		return v
	}
	long := "start " + strings.Repeat("of a long text ", 1000) + "end"
	for _, text := range []string{"deployed release 42", long} {
		before := d.requests.Load()
		ref, err := d.post(notice(text), bridge.NewParts(nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		if n := d.requests.Load() - before; n != 1 {
			t.Errorf("it took %d requests", n)
		}
		d.want(ref, text[len(text)-5:], false)
		if flags, _ := d.Sandbox.Message(d.Place(ref))["flags"].(float64); int(flags)&(1<<12) == 0 {
			t.Error("it causes a notification")
		}
	}
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	ref, err := d.post(notice("other "+long), bridge.NewParts(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	d.want(ref, "Shortened", false)
}
