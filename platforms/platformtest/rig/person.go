package rig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// Chat returns all text that a Telegram chat shows.
func Chat(r *Rig, id string) string {
	var b strings.Builder
	for _, c := range r.Sandbox.Chats("telegram") {
		if c.ID == id {
			for _, m := range c.Messages {
				b.WriteString(sandbox.Texts(m))
			}
		}
	}
	return b.String()
}

// Told fails the test unless a person reads a word where only they see it: in a
// toast, in an error at a form, or in their newest ephemeral message.
func (r *Rig) Told(who, service string, reaction sandbox.Reaction, word string) {
	r.T.Helper()
	if service == "telegram" || len(reaction.Errors) > 0 {
		private := r.Sandbox.Person(who).Notes(service) // what is too long for a toast
		if said := reaction.Toast + fmt.Sprint(reaction.Errors, private); !strings.Contains(said, word) {
			r.T.Fatalf("%s read %q on %s, want %q", who, said, service, word)
		}
		return
	}
	r.Eventually(fmt.Sprintf("%s reads %q on %s", who, word, service), func() bool {
		notes := r.Sandbox.Person(who).Notes(service)
		return len(notes) > 0 && strings.Contains(notes[len(notes)-1], word)
	})
}

// Press clicks a control.
func (r *Rig) Press(who string, at sandbox.Place, label string) sandbox.Reaction {
	r.T.Helper()
	r.Eventually(fmt.Sprintf("the card on %s shows %q", at.Service, label), func() bool {
		return slices.ContainsFunc(sandbox.Controls(at.Service, r.Sandbox.Message(at)), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) })
	})
	return r.does(func() (sandbox.Reaction, error) { return r.Sandbox.Person(who).Press(r.Ctx, at, label) })
}

// Unrecorded clicks a control while the test makes nod fail, and checks that the
// person reads that nod did not record the click.
func (r *Rig) Unrecorded(who string, at sandbox.Place, label string) {
	r.T.Helper()
	r.watch.Expect(who, at.Service)
	reaction, err := r.Sandbox.Person(who).Press(r.Ctx, at, label)
	r.Told(who, at.Service, person.Answered(r.T, reaction, err), bridge.NoteNotRecorded)
}

// approving are the labels of the control that approves once.
var approving = []string{
	render.LabelRun, render.LabelScript, render.LabelCall, render.LabelAllow, "Apply edit", "Write file", "Delete file", "Fetch page", "Send request",
}

// reads begins the label of a control that opens a dialog with the whole text,
// where people approve or answer.
const reads = "Read and "

// Approve clicks the control that approves once, whatever its label, and
// submits the dialog that it opens.
func (r *Rig) Approve(who string, at sandbox.Place) sandbox.Reaction {
	r.T.Helper()
	label := r.ApprovingLabel(at)
	if !strings.HasPrefix(label, reads) {
		return r.Press(who, at, label)
	}
	return r.Fill(who, at, label)
}

// ApprovingLabel waits until a card has the control that approves once, and
// returns its label.
func (r *Rig) ApprovingLabel(at sandbox.Place) string {
	r.T.Helper()
	label := ""
	r.Eventually("the card on "+at.Service+" can be approved", func() bool {
		for _, c := range sandbox.Controls(at.Service, r.Sandbox.Message(at)) {
			if slices.Contains(approving, strings.TrimSuffix(c.Label, "…")) || strings.HasPrefix(c.Label, reads) {
				label = c.Label
			}
		}
		return label != ""
	})
	return label
}

// does performs an action, which nod must record. In a rig whose test makes nod
// fail, the person acts again if nod does not.
func (r *Rig) does(do func() (sandbox.Reaction, error)) sandbox.Reaction {
	r.T.Helper()
	if r.Faulty {
		once := do
		do = func() (sandbox.Reaction, error) { return person.Insist(Patience, once) }
	}
	reaction, err := do()
	return person.Did(r.T, reaction, err)
}

// Typed answers with free text as the platform requires: in a modal, or in a
// reply.
func (r *Rig) Typed(who string, at sandbox.Place, label, text string) sandbox.Reaction {
	r.T.Helper()
	if at.Service == "telegram" {
		reaction, _ := r.Open(who, at, label)
		r.Eventually("the prompt is there", func() bool {
			var err error
			reaction, err = r.Sandbox.Person(who).Reply(r.Ctx, at.Channel, text)
			return err == nil
		})
		return reaction
	}
	return r.Fill(who, at, label, []string{text})
}

// Fill clicks a control of a card or of its menu, and submits the form that it
// opens.
func (r *Rig) Fill(who string, at sandbox.Place, label string, fields ...[]string) sandbox.Reaction {
	r.T.Helper()
	at = r.reach(who, at, label)
	p := r.Sandbox.Person(who)
	return r.does(func() (sandbox.Reaction, error) {
		return person.Form(

			func() (sandbox.Reaction, error) { return p.Press(r.Ctx, at, label) },
			func(modal string) (sandbox.Reaction, error) { return p.Fill(r.Ctx, at.Service, modal, fields...) })
	})
}

// Refill submits a form that is already open.
func (r *Rig) Refill(who, service, modal string, fields ...[]string) sandbox.Reaction {
	r.T.Helper()
	return r.does(func() (sandbox.Reaction, error) {
		return r.Sandbox.Person(who).Fill(r.Ctx, service, modal, fields...)
	})
}

// Command sends nod a command in a channel.
func (r *Rig) Command(who, service, channel, words string) sandbox.Reaction {
	r.T.Helper()
	return r.does(func() (sandbox.Reaction, error) {
		return r.Sandbox.Person(who).Command(r.Ctx, service, channel, words)
	})
}

// Choose answers one question with options as the platform requires.
func (r *Rig) Choose(who string, at sandbox.Place, w bridge.Widget, labels ...string) sandbox.Reaction {
	r.T.Helper()
	submit := map[bridge.Widget]string{bridge.WidgetSelect: "Submit", bridge.WidgetRadio: "Submit", bridge.WidgetCheckbox: "Submit"}[w]
	if at.Service == "telegram" && w == bridge.WidgetCheckbox {
		submit = "Done"
	}
	switch {
	case w == bridge.WidgetButtons || w == bridge.WidgetConfirm:
		return r.Press(who, at, labels[0])
	case at.Service == "discord" && w != bridge.WidgetSelect:
		return r.Fill(who, at, "Choose", labels)
	}
	if at.Service == "telegram" {
		for _, l := range labels {
			r.Press(who, at, l)
		}
		return r.Press(who, at, submit)
	}
	return r.does(func() (sandbox.Reaction, error) {
		return r.Sandbox.Person(who).Pick(r.Ctx, at, labels, submit)
	})
}
