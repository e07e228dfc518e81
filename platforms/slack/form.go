package slack

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/slackmsg"
)

// forms opens the forms of controls, as modals.
type forms struct {
	*workspace
	sink bridge.Sink
}

// metadata is the private metadata of a modal.
type metadata struct {
	Token string            `json:"t"`
	Ref   bridge.MessageRef `json:"r"`
	// Always replaces Token if the person checks the box to deny always.
	Always string `json:"a,omitempty"`
	// Pushed means that the modal is on top of another modal.
	Pushed bool `json:"p,omitempty"`
}

// opening returns the reaction to a click that opens the form of a control. It
// then calls follow: with a note for the person if the form does not open, and
// with an empty note otherwise. A pushed form opens on top of the clicked
// modal.
func (f forms) opening(ctx context.Context, c bridge.Click, trigger string, pushed bool, then func(note string) reaction) reaction {
	form, v, err := f.sink.Form(ctx, c)
	switch {
	case err != nil:
		f.log.Error("form not opened", "platform", f.name, "error", err)
		return then(bridge.NotRecorded(err))
	case v.Kind != "":
		return then(v.Note)
	}
	return reaction{first: func(ctx context.Context) reaction { return then(f.open(ctx, form, c, trigger, pushed)) }}
}

// open opens a form. It returns a note for the person if the form did not open.
func (f forms) open(ctx context.Context, form bridge.Form, c bridge.Click, trigger string, pushed bool) string {
	submit := form.View.Token(bridge.ActionSubmit, form.Control.Question, form.Control.Option)
	meta, err := json.Marshal(metadata{Token: submit, Ref: c.Ref, Always: slackmsg.AlwaysToken(form), Pushed: pushed})
	if err != nil {
		f.log.Error("form not opened", "platform", f.name, "error", err)
		return bridge.NoteNotRecorded
	}
	modal, err := slackmsg.Modal(form, string(meta))
	show := f.api.OpenViewContext
	if pushed {
		show = f.api.PushViewContext
	}
	var got *slack.ViewResponse
	if err == nil {
		got, err = show(ctx, trigger, modal)
	}
	if err != nil {
		f.log.Warn("modal not opened", "platform", f.name, "error", err)
	}
	switch {
	case bridge.ErrorCode(err) == bridge.CodeUnsupported && got == nil:
		return f.elsewhere("Nothing was recorded: this is too large for a dialog in Slack.")
	case err != nil:
		return "The form did not open in time. Click again."
	}
	f.guard(ctx, modal, got.View)
	return ""
}

// elsewhere returns a note with the place where people can answer instead, if
// there is one.
func (f forms) elsewhere(note string) string {
	switch {
	case !f.console:
		return note
	case f.consoleURL == "":
		return note + " Open the console."
	}
	return note + " Open the console: " + strings.TrimRight(f.consoleURL, "/") + "/console/"
}

// noteTooLong is the note for a change that a platform cannot show.
const noteTooLong = "Your change is too long to show here. Nothing was approved. Use the console, or deny with a reason."

// review replaces a form with the menu in which the person confirms the entered
// values.
func (f forms) review(form bridge.Form, of metadata) *answer {
	submit := form.View.Token(bridge.ActionSubmit, form.Control.Question, form.Control.Option)
	meta, err := json.Marshal(metadata{Token: submit, Ref: of.Ref, Pushed: of.Pushed})
	if err != nil {
		return closed(bridge.NoteNotRecorded)
	}
	view, err := slackmsg.Modal(form, string(meta))
	if err != nil {
		f.log.Warn("change not shown", "platform", f.name, "error", err)
		return closed(noteTooLong)
	}
	return &answer{Action: "update", View: &view}
}

const (
	noteLoading   = "One moment…"
	noteNotLoaded = "Slack could not open the next step. Nothing was approved. Close this, and click again."
)

// loadingTries and loadingPause limit how long nod waits for Slack to handle an
// acknowledgment.
const (
	loadingTries = 50
	loadingPause = 100 * time.Millisecond
)

// replace shows another view in an open modal, in place of the view with an
// external ID that an acknowledgment shows there. Slack may handle this call
// before the acknowledgment, and the acknowledgment would then hide the view.
// The call therefore names the view that it replaces, because Slack does not
// know the ID before the acknowledgment.
func (f forms) replace(ctx context.Context, modal, loading string, view slack.ModalViewRequest) {
	var got *slack.ViewResponse
	var err error
	for range loadingTries {
		got, err = f.api.UpdateViewContext(ctx, view, loading, "", "")
		if err = f.classify("", err); !platforms.Is(err, platforms.AboutLate) || !bridge.Pause(ctx, loadingPause) {
			break
		}
	}
	if err == nil {
		f.guard(ctx, view, got.View)
		return
	}
	f.log.Warn("modal not updated", "platform", f.name, "error", err)
	if _, err := f.api.UpdateViewContext(ctx, slackmsg.Closed(noteNotLoaded, ""), "", "", modal); err != nil {
		f.log.Warn("modal not updated", "platform", f.name, "error", err)
	}
}

// guard replaces a modal that does not show everything, so that no one can
// submit it.
func (f forms) guard(ctx context.Context, sent slack.ModalViewRequest, got slack.View) {
	hidden := slackmsg.Hidden(sent.Blocks.BlockSet, got.Blocks.BlockSet)
	if hidden == "" {
		return
	}
	f.log.Error("modal is incomplete", "platform", f.name, "reason", hidden)
	closed := slackmsg.Closed(f.elsewhere("Slack does not show all of this request, so it cannot be answered here."), "")
	if _, err := f.api.UpdateViewContext(ctx, closed, "", "", got.ID); err != nil {
		f.log.Error("incomplete modal not replaced", "platform", f.name, "error", err)
	}
}

// answer is the response to the submission of a modal. Nil closes the modal.
type answer struct {
	Action string                  `json:"response_action"`
	Errors map[string]string       `json:"errors,omitempty"`
	View   *slack.ModalViewRequest `json:"view,omitempty"`
}

// closed returns a response that replaces a modal with a note.
func closed(note string) *answer { return concluded(bridge.Verdict{Note: note}) }

// concluded is like closed. It takes a verdict, which may have a link.
func concluded(v bridge.Verdict) *answer {
	view := slackmsg.Closed(v.Note, v.Link)
	return &answer{Action: "update", View: &view}
}

// fieldErrors shows problems next to their fields. If no field has a problem,
// it shows the note at the first field.
func fieldErrors(s state, problems map[int]string, note string) *answer {
	errs := map[string]string{}
	fallback := ""
	for blockID := range s.Values {
		f, ok := slackmsg.ParseField(blockID)
		if !ok {
			continue
		}
		n := f.Question
		if f.Typed {
			n = bridge.TypedProblem
		}
		if problems[n] != "" && !f.Other {
			errs[blockID] = render.Clean(problems[n])
		}
		if fallback == "" || blockID < fallback {
			fallback = blockID
		}
	}
	if fallback == "" { // a form without inputs
		return closed(note)
	}
	if len(errs) == 0 {
		errs[fallback] = render.Clean(note)
	}
	return &answer{Action: "errors", Errors: errs}
}
