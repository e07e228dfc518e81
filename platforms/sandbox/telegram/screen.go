package telegram

import (
	"context"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Controls lists the controls of a message that send a click to the bot. Links,
// disabled buttons and copy buttons do not.
func Controls(m raw.Object) []core.Control {
	var out []core.Control
	for _, r := range raw.List(raw.Sub(m, "reply_markup"), "inline_keyboard") {
		row, _ := r.([]any)
		for _, b := range raw.All(row) {
			if data := raw.Str(b, "callback_data"); data != "" {
				out = append(out, core.Control{ID: data, Label: raw.Str(b, "text"), Kind: "button"})
			}
		}
	}
	return out
}

// Controls implements core.Screen.
func (e *Emulator) Controls(m raw.Object) []core.Control { return Controls(m) }

// Inputs implements core.Screen. Telegram has no modals.
func (e *Emulator) Inputs(string) ([]core.Input, bool) { return nil, false }

// Pick implements core.Screen. Options are buttons too.
func (e *Emulator) Pick(
	ctx context.Context, as string, at core.Place, labels []string, submit string,
) (core.Reaction, error) {
	for _, l := range labels {
		if r, err := core.Press(ctx, e, as, at, l); err != nil || !r.OK {
			return r, err
		}
	}
	return core.Press(ctx, e, as, at, submit)
}

// Reply answers the newest prompt in a chat that is meant for a member.
func (e *Emulator) Reply(ctx context.Context, as, chat, answer string) (core.Reaction, error) {
	m, err := e.Member(as)
	if err != nil {
		return core.Reaction{}, err
	}
	id := e.prompt(chat, m)
	if id == "" {
		return core.Reaction{}, e.Errorf("no prompt for %s in %s", as, chat)
	}
	return e.Act(ctx, core.Action{Service: Name, As: as, Do: "reply", Channel: chat, Message: id, Text: answer})
}

// prompt returns the ID of the newest message that asks a member to reply, or
// "".
func (e *Emulator) prompt(chat string, m core.Account) string {
	e.Lock()
	defer e.Unlock()
	c := e.chats[chat]
	if c == nil {
		return ""
	}
	for _, msg := range slices.Backward(c.Messages) {
		asks := raw.Sub(msg, "reply_markup")
		if asks["force_reply"] == true && (asks["selective"] != true || mentions(msg, m.ID)) {
			return strconv.Itoa(raw.Int(msg["message_id"]))
		}
	}
	return ""
}

// mentions reports whether a message names a user by their ID.
func mentions(m raw.Object, user string) bool {
	return slices.ContainsFunc(raw.Objects(m, "entities"), func(e raw.Object) bool {
		return raw.Text(raw.Sub(e, "user")["id"]) == user
	})
}
