package slackmsg

import (
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Prefixes of the action IDs of the selects for delegation. A select of people
// can hold a token only in its action ID.
const (
	delegateID = "delegate"
	anyoneID   = "anyone-"
)

// extras returns the row of controls that do not answer the request. It is
// empty if there are none.
func extras(v bridge.View, id string) []slack.Block {
	var row []slack.BlockElement
	for n, x := range render.Snooze(v) {
		row = append(row, button("more"+strconv.Itoa(n), x.Token, x.Label, slack.StyleDefault))
	}
	if e := delegate(v); e != nil {
		row = append(row, e)
	}
	if len(row) == 0 {
		return nil
	}
	return []slack.Block{slack.NewActionBlock("more-"+id, row...)}
}

// delegate returns the control for delegation: a button for one person, a
// select for several, and a select of all people if there are groups. It
// returns nil if there is no one to delegate to.
func delegate(v bridge.View) slack.BlockElement {
	names, people := v.Record.Interaction.HandOver, render.Delegates(v)
	placeholder := plain(render.LabelDelegate+"…", maxPlaceholder)
	switch {
	case len(names) > len(people):
		e := slack.NewOptionsSelectBlockElement(slack.OptTypeUser, placeholder, anyoneID+v.Token(bridge.ActionHandOver, 0, bridge.OptionAnyone))
		e.Confirm = delegation()
		return e
	case len(people) > 1:
		options := make([]*slack.OptionBlockObject, len(people))
		for n, x := range people {
			options[n] = slack.NewOptionBlockObject(x.Token, plain(names[n], maxOption), nil)
		}
		e := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, placeholder, delegateID, options...)
		e.Confirm = delegation()
		return e
	case len(people) == 1:
		return button(delegateID, people[0].Token, people[0].Label, slack.StyleDefault)
	}
	return nil
}

// delegation returns a confirmation dialog, because Slack sends a choice in a
// select at once.
func delegation() *slack.ConfirmationBlockObject {
	return slack.NewConfirmationBlockObject(plain("Delegate this request?", maxConfirmTitle),
		plain("This person is notified and can answer too. You can still answer.", maxConfirmText),
		plain("Delegate", maxConfirmButton), plain("Cancel", maxConfirmButton))
}

// Delegated reads the choice in a select for delegation: the value of an
// option, or a user. It returns the token of the control and the user. For any
// other select, it returns an empty token.
func Delegated(action, value, user string) (token, picked string) {
	if action == delegateID {
		return value, ""
	}
	if token, ok := strings.CutPrefix(action, anyoneID); ok && user != "" {
		return token, user
	}
	return "", ""
}
