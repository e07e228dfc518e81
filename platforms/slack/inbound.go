package slack

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/slackmsg"
)

// payload is the part of an interaction payload that nod reads.
type payload struct {
	Type      string `json:"type"`
	TriggerID string `json:"trigger_id"`
	User      struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	} `json:"user"`
	Container struct {
		MessageTS string `json:"message_ts"`
		ChannelID string `json:"channel_id"`
		ThreadTS  string `json:"thread_ts"`
	} `json:"container"`
	Actions []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"actions"`
	State       state  `json:"state"`
	ResponseURL string `json:"response_url"`

	// An event, and the challenge that Slack sends to a new event URL.
	Event struct {
		Type string `json:"type"`
		User string `json:"user"`
		Tab  string `json:"tab"`
	} `json:"event"`
	Challenge string `json:"challenge"`
	// A slash command has fields of its own.
	Command   string `json:"command"`
	Text      string `json:"text"`
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name"`
	ChannelID string `json:"channel_id"`

	View struct {
		CallbackID string `json:"callback_id"`
		Metadata   string `json:"private_metadata"`
		State      state  `json:"state"`
	} `json:"view"`
}

type state struct {
	Values map[string]map[string]struct { // by block ID and action ID
		Value           *string  `json:"value"`
		SelectedDate    *string  `json:"selected_date"`
		SelectedTime    *string  `json:"selected_time"`
		SelectedOption  *choice  `json:"selected_option"`
		SelectedOptions []choice `json:"selected_options"`
	} `json:"values"`
}

type choice struct {
	Value string `json:"value"`
}

// metadata is the private metadata of a modal.
type metadata struct {
	Token string            `json:"t"`
	Ref   bridge.MessageRef `json:"r"`
}

// answer is the response to the submission of a modal. A nil answer closes the
// modal.
type answer struct {
	Action string                  `json:"response_action"`
	Errors map[string]string       `json:"errors,omitempty"`
	View   *slack.ModalViewRequest `json:"view,omitempty"`
}

// reaction is the result of an interaction.
type reaction struct {
	reply any                   // acknowledges it
	then  func(context.Context) // runs after it was acknowledged; may be nil
}

// afterwards is the time limit for everything that follows an acknowledgment.
const afterwards = 10 * time.Second

// finish runs what follows the acknowledgment. Its time limit is its own,
// because the click is already stored.
func (r reaction) finish(ctx context.Context) {
	if r.then == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	r.then(ctx)
}

// handle works on one authenticated interaction. The click is in the store when
// it returns.
func (p *Platform) handle(ctx context.Context, sink bridge.Sink, raw []byte) reaction {
	ctx, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	var in payload
	if err := json.Unmarshal(raw, &in); err != nil {
		p.log.Warn("interaction cannot be read", "platform", p.name, "error", err)
		return reaction{}
	}
	switch {
	case in.Command != "":
		return reaction{reply: p.commanded(ctx, sink, in)}
	case in.Type == "url_verification":
		return reaction{reply: challenge{in.Challenge}}
	case in.Event.Type == "app_home_opened" && in.Event.Tab == "home":
		p.home(ctx, sink, in.Event.User)
	case in.Type == "block_actions":
		return reaction{then: p.clicked(ctx, sink, in)}
	case in.Type == "view_submission" && in.View.CallbackID == slackmsg.CallbackID:
		return p.submitted(ctx, sink, in)
	}
	return reaction{}
}

func (p *Platform) actor(in payload) bridge.Actor {
	return bridge.Actor{Platform: p.name, User: in.User.ID, Name: platforms.DisplayName(in.User.Name, in.User.Username)}
}

// told is the reply to a slash command. Only the person who sent the command
// sees it.
type told struct {
	Type   string        `json:"response_type"`
	Text   string        `json:"text"`
	Blocks []slack.Block `json:"blocks"`
}

func (p *Platform) commanded(ctx context.Context, sink bridge.Sink, in payload) told {
	channels := []string{in.ChannelID}
	if strings.HasPrefix(in.ChannelID, "D") { // the config names a direct message by the ID of its member
		channels = append(channels, in.UserID)
	}
	note, err := sink.Command(ctx, bridge.Command{
		Actor: bridge.Actor{Platform: p.name, User: in.UserID, Name: platforms.DisplayName(in.UserName, "")}, Channels: channels, Text: in.Text,
	})
	if err != nil {
		p.log.Error("command failed", "platform", p.name, "error", err)
		note = bridge.NoteNotDone
	}
	text, blocks := slackmsg.Note(note)
	return told{Type: slack.ResponseTypeEphemeral, Text: text, Blocks: blocks}
}

// clicked applies a click on a message. It returns a function to run after the
// acknowledgment, or nil.
func (p *Platform) clicked(ctx context.Context, sink bridge.Sink, in payload) func(context.Context) {
	if len(in.Actions) == 0 || in.Actions[0].Type != "button" || in.Actions[0].Value == "" {
		return nil // a select, whose value comes with the click on a button, or a link
	}
	c := bridge.Click{
		Token: in.Actions[0].Value, Actor: p.actor(in), Inputs: inputs(in.State),
		Ref: bridge.MessageRef{
			Channel: in.Container.ChannelID, Message: in.Container.MessageTS, Thread: in.Container.ThreadTS,
		},
	}
	note := func(text string) func(context.Context) {
		return func(ctx context.Context) { p.tell(ctx, c, in.ResponseURL, text) }
	}
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		return note(p.openForm(ctx, sink, c, in.TriggerID))
	}
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("click not recorded", "platform", p.name, "error", err)
		return note(bridge.NoteNotRecorded)
	}
	return func(ctx context.Context) {
		if v.Kind != bridge.VerdictSettled { // otherwise the card itself shows it in a moment
			p.tell(ctx, c, in.ResponseURL, v.Note)
		}
		p.closeStale(ctx, c.Ref, v)
	}
}

// closeStale redraws a clicked card that the outbox does not redraw. Either its
// request was closed earlier, or the record names another card: the response to
// the first post was lost, and nod posted a second card.
func (p *Platform) closeStale(ctx context.Context, clicked bridge.MessageRef, v bridge.Verdict) {
	if v.View == nil || clicked == (bridge.MessageRef{}) {
		return
	}
	known := v.View.Record.Messages[v.View.Destination]
	if v.Kind != bridge.VerdictLate && (v.Kind != bridge.VerdictSettled || known.Message == clicked.Message) {
		return
	}
	if err := p.Update(ctx, clicked, *v.View, v.View.Delivered()); err != nil {
		p.log.Warn("stale card not closed", "platform", p.name, "error", err)
	}
}

// openForm opens the form of a control. It returns a note for the person if the
// form did not open.
func (p *Platform) openForm(ctx context.Context, sink bridge.Sink, c bridge.Click, trigger string) string {
	form, v, err := sink.Form(ctx, c)
	if err != nil {
		p.log.Error("form not opened", "platform", p.name, "error", err)
		return bridge.NoteNotRecorded
	}
	if v.Kind != "" {
		return v.Note
	}
	submit := form.View.Token(bridge.ActionSubmit, form.Control.Question, form.Control.Option)
	meta, err := json.Marshal(metadata{Token: submit, Ref: c.Ref})
	if err != nil {
		p.log.Error("form not opened", "platform", p.name, "error", err)
		return bridge.NoteNotRecorded
	}
	modal, err := slackmsg.Modal(form, string(meta))
	if err == nil {
		_, err = p.api.OpenViewContext(ctx, trigger, modal)
	}
	if err != nil {
		p.log.Warn("modal not opened", "platform", p.name, "error", err)
		return "The form did not open in time. Click again."
	}
	return ""
}

func (p *Platform) submitted(ctx context.Context, sink bridge.Sink, in payload) reaction {
	var meta metadata
	if err := json.Unmarshal([]byte(in.View.Metadata), &meta); err != nil {
		return reaction{reply: closed("This form does not belong to nod.")}
	}
	c := bridge.Click{
		Token: meta.Token, Actor: p.actor(in), Ref: meta.Ref, Inputs: inputs(in.View.State), Typed: typed(in.View.State),
	}
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("form not recorded", "platform", p.name, "error", err)
		return reaction{reply: fieldErrors(in.View.State, nil, bridge.NoteNotRecorded)}
	}
	r := reaction{then: func(ctx context.Context) { p.closeStale(ctx, c.Ref, v) }}
	switch v.Kind {
	case bridge.VerdictSettled: // no reply closes the form
	case bridge.VerdictInvalid:
		r.reply = fieldErrors(in.View.State, v.Problems, v.Note)
	default:
		r.reply = closed(v.Note)
	}
	return r
}

func closed(note string) *answer {
	view := slackmsg.Closed(note)
	return &answer{Action: "update", View: &view}
}

// fieldErrors shows problems at their fields. If no field has a problem, it
// shows the note at the first field.
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
	if len(errs) == 0 {
		errs[fallback] = render.Clean(note)
	}
	return &answer{Action: "errors", Errors: errs}
}

func inputs(s state) map[int]bridge.Input {
	out := map[int]bridge.Input{}
	for blockID, actions := range s.Values {
		f, ok := slackmsg.ParseField(blockID)
		if !ok || f.Typed {
			continue
		}
		for _, v := range actions {
			in := out[f.Question]
			switch {
			case f.Other && v.Value != nil:
				in.Other = strings.TrimSpace(*v.Value)
			case v.Value != nil:
				in.Text = *v.Value
			case v.SelectedDate != nil:
				in.Text = *v.SelectedDate
			case v.SelectedTime != nil:
				in.Text = *v.SelectedTime
			case v.SelectedOption != nil:
				in.Options = append(in.Options, index(v.SelectedOption.Value))
			default:
				for _, o := range v.SelectedOptions {
					in.Options = append(in.Options, index(o.Value))
				}
			}
			out[f.Question] = in
		}
	}
	return out
}

// index returns the index in the value of an option, or -1 if the value is not
// an index.
func index(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func typed(s state) string {
	for blockID, actions := range s.Values {
		if f, ok := slackmsg.ParseField(blockID); !ok || !f.Typed {
			continue
		}
		for _, v := range actions {
			if v.Value != nil {
				return *v.Value
			}
		}
	}
	return ""
}

// tell sends a note that only the person who clicked sees.
func (p *Platform) tell(ctx context.Context, c bridge.Click, url, note string) {
	if note == "" {
		return
	}
	err := p.Notify(ctx, c.Ref, c.Actor.User, note)
	if err != nil && url != "" {
		// The person may not be in the channel. The URL works nevertheless.
		err = p.answerAt(ctx, url, c.Ref.Thread, note)
	}
	if err != nil {
		p.log.Warn("private note not sent", "platform", p.name, "error", err)
	}
}

// answerAt sends a note to the response URL of a click. Only the person who
// clicked sees it. A URL works up to five times within 30 minutes.
func (p *Platform) answerAt(ctx context.Context, url, thread, note string) error {
	text, blocks := slackmsg.Note(note)
	return p.classify("", slack.PostWebhookCustomHTTPContext(ctx, url, p.http, &slack.WebhookMessage{
		ResponseType: slack.ResponseTypeEphemeral, ThreadTimestamp: thread, Text: text, Blocks: &slack.Blocks{BlockSet: blocks},
	}))
}
