package telegrammsg_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/telegrammsg"
)

func sample(t *testing.T, name string) bridge.View {
	t.Helper()
	for _, s := range rendertest.Samples() {
		if s.Name == name {
			return s.View
		}
	}
	t.Fatalf("no sample %q", name)
	return bridge.View{}
}

func build(t *testing.T, v bridge.View) telegrammsg.Message {
	t.Helper()
	m, err := telegrammsg.Build(v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// closedLong is an approval whose script is longer than a closed card shows.
func closedLong(t *testing.T, lines int) bridge.View {
	t.Helper()
	v := sample(t, "approval-approved")
	script := strings.Repeat("make <step>\n", lines)
	v.Record.Interaction.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, script)
	return v
}

// TestDistantTime checks that a time which the server cannot read is plain text.
func TestDistantTime(t *testing.T) {
	t.Parallel()
	v := sample(t, "approval")
	v.Record.Interaction.Deadline = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	m := build(t, v)
	if m.Uses()&telegrammsg.Dates != 0 || !strings.Contains(m.Text, "Jan 1, 00:00 UTC") {
		t.Errorf("after 2038: %+v", m)
	}
}

// TestCopy checks that a command can be copied only if it is exactly what runs.
func TestCopy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, input, want string
		redacted          int
	}{
		{"bash", `{"command":"make deploy"}`, "make deploy", 0},
		{"Bash", `{"argv":["rm","a b"],"host":"h"}`, "rm 'a b'", 0},
		{"Bash", `{"argv":["rm","a"],"program":"/tmp/rm"}`, "", 0},
		{"bash", `{"command":"make deploy"}`, "", 1},
		{"bash", `{"command":"make \u202edeploy"}`, "", 0},
		{"bash", fmt.Sprintf(`{"command":%q}`, strings.Repeat("x", 256)), strings.Repeat("x", 256), 0},
		{"bash", fmt.Sprintf(`{"command":%q}`, strings.Repeat("x", 257)), "", 0},
		{"delete_pod", `{"command":"api"}`, "", 0},
	} {
		v := sample(t, "approval")
		i := &v.Record.Interaction
		i.Approval.Tool, i.Approval.Input, i.Redacted = c.tool, json.RawMessage(c.input), c.redacted
		got := ""
		for _, row := range build(t, v).Keyboard {
			for _, b := range row {
				if b.Copy != nil {
					got = b.Copy.Text
				}
			}
		}
		if got != c.want {
			t.Errorf("%s %s, %d redacted: copies %q, want %q", c.tool, c.input, c.redacted, got, c.want)
		}
	}
}

// TestWithout checks that no card without a feature uses it, and that every
// button still has exactly one effect.
func TestWithout(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		m := build(t, s.View)
		for off := telegrammsg.Features(0); off < 16; off++ {
			less := m.Without(off)
			if used := less.Uses() & off; used != 0 {
				t.Errorf("%s without %b uses %b", s.Name, off, used)
			}
			for _, row := range less.Keyboard {
				for _, b := range row {
					raw, err := json.Marshal(b)
					if err != nil {
						t.Fatal(err)
					}
					kinds := 0
					for _, k := range []string{`"callback_data"`, `"copy_text"`, `"disabled"`} {
						kinds += strings.Count(string(raw), k)
					}
					if kinds != 1 {
						t.Errorf("%s without %b has the button %s", s.Name, off, raw)
					}
				}
			}
		}
	}
}

// TestFileOfSteps checks that the file of a form has every field that a step cannot
// show, and is the same in each step.
func TestFileOfSteps(t *testing.T) {
	t.Parallel()
	v := sample(t, "several")
	q := &v.Record.Interaction.Questions[0]
	q.Options = nil
	for n := range 60 {
		o := bridge.Option{Value: fmt.Sprint(n), Label: fmt.Sprintf("Region %d", n), Description: strings.Repeat("far ", 15) + fmt.Sprint("away ", n)}
		q.Options = append(q.Options, o)
	}
	v.Record.Interaction.Prompt = strings.Repeat("a long report\n\n", 400)
	first := build(t, atStep(v, 0)).File
	if first == nil {
		t.Fatal("no file")
	}
	for _, want := range []string{"for where?", "away 0", "away 59", "for what?", "for why?", "Frankfurt"} {
		if !strings.Contains(string(first.Data), want) {
			t.Errorf("the file has no %q", want)
		}
	}
	for n := range v.Record.Interaction.Fields() {
		if other := build(t, atStep(v, n)).File; other == nil || string(other.Data) != string(first.Data) {
			t.Errorf("step %d has another file", n+1)
		}
	}
}

// TestRefused checks that an error names the newest feature that it is about.
func TestRefused(t *testing.T) {
	t.Parallel()
	entity := errors.New("Bad Request: can't parse MessageEntity: Unsupported type specified")
	button := errors.New("Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	all := telegrammsg.DisabledButtons | telegrammsg.Dates | telegrammsg.CopyButtons | telegrammsg.LongQuotes
	for _, c := range []struct {
		err  error
		used telegrammsg.Features
		want string
	}{
		{nil, all, ""},
		{errors.New("Bad Request: chat not found"), all, ""},
		{entity, 0, ""},
		{entity, all, "9.5"},
		{entity, telegrammsg.LongQuotes, "7.4"},
		{button, all, "10.3"},
		{button, telegrammsg.CopyButtons | telegrammsg.Dates, "7.11"},
	} {
		f, _ := telegrammsg.Refused(c.err, c.used)
		if f.Since != c.want {
			t.Errorf("%v with %b refuses the feature of %q, want %q", c.err, c.used, f.Since, c.want)
		}
	}
	for _, f := range telegrammsg.AllFeatures() {
		if f.Trial().Uses() != f.Features {
			t.Errorf("the trial of %s uses %b", f.Name, f.Trial().Uses())
		}
	}
}

// cities returns a page of a list of 25 options.
func cities(t *testing.T, page int) bridge.View {
	t.Helper()
	v := sample(t, "select")
	q := &v.Record.Interaction.Questions[0]
	q.Options, q.Default = nil, nil
	for n := range 25 {
		q.Options = append(q.Options, bridge.Option{Value: fmt.Sprint(n), Label: fmt.Sprintf("City %d", n)})
	}
	v.Draft = &bridge.Draft{Page: page, Actor: bridge.Actor{Person: "Ana"}}
	return v
}

// atStep returns a step of a form in which the earlier fields have their defaults,
// or a text.
func atStep(v bridge.View, step int) bridge.View {
	d := bridge.Draft{Step: step, Actor: bridge.Actor{Person: "Ana"}, Answers: map[string]bridge.Answer{}}
	for _, f := range v.Record.Interaction.Fields()[:step] {
		if f.FreeText() {
			d.Answers[f.ID] = bridge.TextAnswer("12")
		}
	}
	v.Draft = &d
	return v
}
