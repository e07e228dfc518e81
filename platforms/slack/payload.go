package slack

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
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
	Actions     []action `json:"actions"`
	State       state    `json:"state"`
	ResponseURL string   `json:"response_url"`

	// An event, and the challenge that Slack sends to a new event URL.
	Event     event  `json:"event"`
	Challenge string `json:"challenge"`
	// A slash command has fields of its own.
	Command   string `json:"command"`
	Text      string `json:"text"`
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name"`
	ChannelID string `json:"channel_id"`

	View struct {
		ID         string `json:"id"`
		Type       string `json:"type"`
		CallbackID string `json:"callback_id"`
		Metadata   string `json:"private_metadata"`
		State      state  `json:"state"`
	} `json:"view"`
}

// event is the part of an event that nod reads.
type event struct {
	posted
	Type    string `json:"type"`
	Tab     string `json:"tab"` // tab of the app that was opened
	Channel string `json:"channel"`
	// Kind is im for a person's own conversation with the app.
	Kind     string  `json:"channel_type"`
	Message  *posted `json:"message"` // the message after a change
	Previous *posted `json:"previous_message"`
	Deleted  string  `json:"deleted_ts"`
}

// posted is the part of a message that nod reads.
type posted struct {
	User    string `json:"user"`
	Subtype string `json:"subtype"`
	Bot     string `json:"bot_id"`
	Text    string `json:"text"`
	TS      string `json:"ts"`
	Thread  string `json:"thread_ts"`
	Parent  string `json:"parent_user_id"` // author of the first message of the thread
}

// action is an action on an element.
type action struct {
	Type     string `json:"type"`
	Block    string `json:"block_id"`
	ID       string `json:"action_id"`
	Value    string `json:"value"`
	Selected choice `json:"selected_option"`
	User     string `json:"selected_user"`
}

// action returns the action on an element. It is empty if there is none.
func (in payload) action() action {
	if len(in.Actions) == 0 {
		return action{}
	}
	return in.Actions[0]
}

// control returns the token of the clicked control, and the user in a select of
// people. The token is empty for an element that decides nothing, such as a
// link, or an input whose value comes with the click on a button.
func (in payload) control() (token, picked string) {
	a := in.action()
	switch a.Type {
	case "button":
		return a.Value, ""
	case "overflow":
		return a.Selected.Value, ""
	}
	return slackmsg.Delegated(a.ID, a.Selected.Value, a.User)
}

// denyAlways reports whether the box to deny always is checked.
func denyAlways(s state) bool {
	for _, v := range s.Values[slackmsg.AlwaysBlock] {
		if len(v.SelectedOptions) > 0 {
			return true
		}
	}
	return false
}

// state holds the values of the inputs of a message or a modal.
type state struct {
	Values map[string]map[string]value `json:"values"` // by block ID and action ID
}

// value is the value of an input. Its kind determines the field.
type value struct {
	Value           *string  `json:"value"`
	SelectedDate    *string  `json:"selected_date"`
	SelectedTime    *string  `json:"selected_time"`
	SelectedAt      *int64   `json:"selected_date_time"` // Unix time
	SelectedOption  *choice  `json:"selected_option"`
	SelectedOptions []choice `json:"selected_options"`
}

// of returns the values of the inputs that belong to the same request as a
// block. The IDs of their blocks have the same ending.
func (s state) of(block string) state {
	out := s
	out.Values = maps.Clone(s.Values)
	_, request, _ := strings.Cut(block, "-")
	maps.DeleteFunc(out.Values, func(id string, _ map[string]value) bool { return !strings.HasSuffix(id, "-"+request) })
	return out
}

type choice struct {
	Value string `json:"value"`
}

// inputs returns the values of the inputs by question.
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
			case v.SelectedAt != nil:
				in.Text = time.Unix(*v.SelectedAt, 0).UTC().Format(time.RFC3339)
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

// typed returns the typed confirmation of a form, or an empty string.
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

// read decodes an authenticated interaction. If the interaction cannot be read,
// it returns the zero value, which causes no reaction.
func (i inbound) read(raw []byte) payload {
	var in payload
	if err := json.Unmarshal(raw, &in); err != nil {
		i.log.Warn("interaction cannot be read", "platform", i.name, "error", err)
		return payload{}
	}
	return in
}

// challenge is the response that proves to Slack that a URL belongs to nod.
type challenge struct {
	Challenge string `json:"challenge"`
}
