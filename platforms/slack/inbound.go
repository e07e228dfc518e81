package slack

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
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
	State state `json:"state"`

	// An event, and what Slack sends when an address for events is set.
	Event struct {
		Type string `json:"type"`
		User string `json:"user"`
		Tab  string `json:"tab"`
	} `json:"event"`
	Challenge string `json:"challenge"`
	// A slash command is not like the others.
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
	Values map[string]map[string]struct { // by block id, by action id
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

// metadata travels in a modal and comes back with it.
type metadata struct {
	Token string            `json:"t"`
	Ref   bridge.MessageRef `json:"r"`
}

// answer is what Slack is told in reply to a view submission; nil closes the
// view.
type answer struct {
	Action string                  `json:"response_action"`
	Errors map[string]string       `json:"errors,omitempty"`
	View   *slack.ModalViewRequest `json:"view,omitempty"`
}

// handle works on one authenticated interaction and returns what to
// acknowledge it with. The click is in the store when it returns.
func (p *Platform) handle(ctx context.Context, sink bridge.Sink, raw []byte) any {
	ctx, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	var in payload
	if err := json.Unmarshal(raw, &in); err != nil {
		p.log.Warn("interaction can not be read", "platform", p.name, "error", err)
		return nil
	}
	switch {
	case in.Command != "":
		return p.commanded(ctx, sink, in)
	case in.Type == "url_verification":
		return challenge{in.Challenge}
	case in.Event.Type == "app_home_opened" && in.Event.Tab == "home":
		p.home(ctx, sink, in.Event.User)
	case in.Type == "block_actions":
		p.pressed(ctx, sink, in)
	case in.Type == "view_submission" && in.View.CallbackID == slackmsg.CallbackID:
		if a := p.submitted(ctx, sink, in); a != nil {
			return a
		}
	}
	return nil
}

func (p *Platform) actor(in payload) bridge.Actor {
	return bridge.Actor{Platform: p.name, User: in.User.ID, Name: platforms.DisplayName(in.User.Name, in.User.Username)}
}

// told answers a slash command; only the person who gave it sees it.
type told struct {
	Type string `json:"response_type"`
	Text string `json:"text"`
}

func (p *Platform) commanded(ctx context.Context, sink bridge.Sink, in payload) told {
	channels := []string{in.ChannelID}
	if strings.HasPrefix(in.ChannelID, "D") { // a direct message is configured by the member's id
		channels = append(channels, in.UserID)
	}
	note, err := sink.Command(ctx, bridge.Command{
		Actor: bridge.Actor{Platform: p.name, User: in.UserID, Name: platforms.DisplayName(in.UserName, "")}, Channels: channels, Text: in.Text,
	})
	if err != nil {
		p.log.Error("command not carried out", "platform", p.name, "error", err)
		note = bridge.NoteNotDone
	}
	return told{Type: "ephemeral", Text: slackmsg.Escape(note)}
}

func (p *Platform) pressed(ctx context.Context, sink bridge.Sink, in payload) {
	if len(in.Actions) == 0 || in.Actions[0].Type != "button" || in.Actions[0].Value == "" {
		return // a select was touched, whose value comes with the button; or a link
	}
	c := bridge.Click{
		Token: in.Actions[0].Value, Actor: p.actor(in), Inputs: inputs(in.State),
		Ref: bridge.MessageRef{Channel: in.Container.ChannelID, Message: in.Container.MessageTS, Thread: in.Container.ThreadTS},
	}
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		p.openForm(ctx, sink, c, in.TriggerID)
		return
	}
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("click not recorded", "platform", p.name, "error", err)
		p.tell(ctx, c, bridge.NoteNotRecorded)
		return
	}
	if v.Kind == bridge.VerdictSettled {
		return // the card itself says so in a moment
	}
	p.tell(ctx, c, v.Note)
	if v.Kind == bridge.VerdictLate && v.View != nil {
		// The pressed copy may be one that the record does not know.
		if err := p.Update(ctx, c.Ref, *v.View, v.View.Delivered()); err != nil {
			p.log.Warn("stale card not closed", "platform", p.name, "error", err)
		}
	}
}

func (p *Platform) openForm(ctx context.Context, sink bridge.Sink, c bridge.Click, trigger string) {
	form, v, err := sink.Form(ctx, c)
	if err != nil {
		p.log.Error("form not opened", "platform", p.name, "error", err)
		p.tell(ctx, c, bridge.NoteNotRecorded)
		return
	}
	if v.Kind != "" {
		p.tell(ctx, c, v.Note)
		return
	}
	meta, err := json.Marshal(metadata{Token: form.View.Token(bridge.ActionSubmit, form.Control.Question, form.Control.Option), Ref: c.Ref})
	if err != nil {
		p.log.Error("form not opened", "platform", p.name, "error", err)
		return
	}
	modal, err := slackmsg.Modal(form, string(meta))
	if err == nil {
		_, err = p.api.OpenViewContext(ctx, trigger, modal)
	}
	if err != nil {
		p.log.Warn("modal not opened", "platform", p.name, "error", err)
		p.tell(ctx, c, "The form could not be opened in time. Please press again.")
	}
}

func (p *Platform) submitted(ctx context.Context, sink bridge.Sink, in payload) *answer {
	var meta metadata
	if err := json.Unmarshal([]byte(in.View.Metadata), &meta); err != nil {
		return closed("That form is not one of nod's.")
	}
	c := bridge.Click{Token: meta.Token, Actor: p.actor(in), Ref: meta.Ref, Inputs: inputs(in.View.State), Typed: typed(in.View.State)}
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("form not recorded", "platform", p.name, "error", err)
		return fieldErrors(in.View.State, nil, bridge.NoteNotRecorded)
	}
	switch v.Kind {
	case bridge.VerdictSettled:
		return nil
	case bridge.VerdictInvalid:
		return fieldErrors(in.View.State, v.Problems, v.Note)
	}
	return closed(v.Note)
}

func closed(note string) *answer {
	view := slackmsg.Closed(note)
	return &answer{Action: "update", View: &view}
}

// fieldErrors shows problems at their fields, or at the first field if none
// has one.
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
			errs[blockID] = problems[n]
		}
		if fallback == "" || blockID < fallback {
			fallback = blockID
		}
	}
	if len(errs) == 0 {
		errs[fallback] = note
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

// index reads the value of an option; -1, which no question has, for any
// value that is not an index.
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

// tell answers the person who pressed, privately. It has its own time: the
// click is settled by now.
func (p *Platform) tell(ctx context.Context, c bridge.Click, note string) {
	if note == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), platforms.ClickTimeout)
	defer cancel()
	if err := p.Notify(ctx, c.Ref, c.Actor.User, note); err != nil {
		p.log.Warn("private note not sent", "platform", p.name, "error", err)
	}
}
