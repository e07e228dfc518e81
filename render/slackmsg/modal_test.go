package slackmsg_test

import (
	"testing"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

// inputOf returns the input of the only question of a modal.
func inputOf(t *testing.T, q bridge.Question) slack.BlockElement {
	t.Helper()
	s := rendertest.Samples()[0]
	s.View.Record.Interaction.Questions = []bridge.Question{q}
	m, err := slackmsg.Modal(bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionForm}}, "metadata")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Blocks.BlockSet {
		if in, ok := b.(*slack.InputBlock); ok {
			return in.Element
		}
	}
	t.Fatal("the modal has no input")
	return nil
}

// TestDateTimePicker checks that a modal asks for a point in time with Slack's
// picker, which starts at the default, unless the picker cannot enter what the
// question accepts.
func TestDateTimePicker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		question bridge.Question
		initial  string
		want     int64 // -1 for a text
	}{
		"plain":                 {bridge.Question{}, "", 0},
		"default with a zone":   {bridge.Question{}, "2026-11-21T14:30:00+01:00", 1795267800},
		"default in UTC":        {bridge.Question{}, "2026-11-21T13:30:00Z", 1795267800},
		"seconds of 9 digits":   {bridge.Question{}, "1999-12-31T23:59:59Z", 0},
		"seconds of 11 digits":  {bridge.Question{}, "2400-01-01T00:00:00Z", 0},
		"pattern":               {bridge.Question{Pattern: `.*\+01:00`}, "", -1},
		"more than UTC is long": {bridge.Question{MinLength: 25}, "", -1},
	} {
		q := c.question
		q.ID, q.Text, q.Widget = "at", "When?", bridge.WidgetDateTime
		if c.initial != "" {
			q.Default = new(bridge.TextAnswer(c.initial))
		}
		switch e := inputOf(t, q).(type) {
		case *slack.DateTimePickerBlockElement:
			if c.want < 0 || e.InitialDateTime != c.want {
				t.Errorf("%s: the picker starts at %d, want %d", name, e.InitialDateTime, c.want)
			}
		case *slack.PlainTextInputBlockElement:
			if c.want >= 0 {
				t.Errorf("%s: the modal asks for text", name)
			}
		default:
			t.Errorf("%s: the input is a %T", name, e)
		}
	}
}
