package telegrammsg_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

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

func quoted(m telegrammsg.Message, e telegrammsg.Entity) string {
	return string(utf16.Decode(utf16.Encode([]rune(m.Text))[e.Offset : e.Offset+e.Length]))
}

func entities(m telegrammsg.Message, kind string) []string {
	var out []string
	for _, e := range m.Entities {
		if e.Type == kind {
			out = append(out, quoted(m, e))
		}
	}
	return out
}

// TestTimes checks that the text of each time is complete without its entity.
func TestTimes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"approval": "Nov 21, 14:05 UTC", "approval-denied": "Nov 21, 14:00:10 UTC"} {
		m := build(t, sample(t, name))
		if got := entities(m, "date_time"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: times %q, want %q", name, got, want)
		}
	}
	v := sample(t, "approval")
	v.Record.Interaction.Deadline = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	if m := build(t, v); len(entities(m, "date_time")) != 0 || !strings.Contains(m.Text, "Jan 1, 00:00 UTC") {
		t.Errorf("after 2038: %+v", m)
	}
}

// TestCollapsed checks that only closed cards collapse a long request, and what
// a server without collapsed quotes gets.
func TestCollapsed(t *testing.T) {
	t.Parallel()
	const kind = "expandable_blockquote"
	if m := build(t, closedLong(t, 1)); len(entities(m, kind)) != 0 {
		t.Errorf("a short request is collapsed: %+v", m)
	}
	if m := build(t, sample(t, "approval-long")); len(entities(m, kind)) != 0 {
		t.Errorf("a pending request is collapsed: %+v", m)
	}
	m := build(t, closedLong(t, 40))
	got := entities(m, kind)
	if len(got) != 1 || strings.Count(got[0], "make <step>") != 40 {
		t.Fatalf("collapsed %q", got)
	}
	rendertest.Golden(t, "collapsed", m)
	short := m.Without(telegrammsg.LongQuotes)
	rendertest.Golden(t, "collapsed-short", short)
	quotes := entities(short, "blockquote")
	if len(quotes) != 1 || strings.Count(quotes[0], "\n") != 12 || !strings.HasSuffix(quotes[0], "\n…") {
		t.Errorf("a server without collapsed quotes gets %q", quotes)
	}
	for _, kind := range []string{"bold", "date_time"} {
		if was, is := entities(m, kind), entities(short, kind); strings.Join(was, "|") != strings.Join(is, "|") {
			t.Errorf("%s moved from %q to %q", kind, was, is)
		}
	}
	for _, e := range short.Entities {
		if e.Offset < 0 || e.Length < 1 || e.Offset+e.Length > len(utf16.Encode([]rune(short.Text))) {
			t.Errorf("%+v is outside the text", e)
		}
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

// TestPages checks the pages of a long list.
func TestPages(t *testing.T) {
	t.Parallel()
	v := sample(t, "select")
	q := &v.Record.Interaction.Questions[0]
	q.Options, q.Default = nil, nil
	for n := range 25 {
		q.Options = append(q.Options, bridge.Option{Value: fmt.Sprint(n), Label: fmt.Sprintf("City %d", n)})
	}
	row := func(page int) string {
		v.Draft = &bridge.Draft{Page: page}
		m := build(t, v)
		rendertest.Golden(t, fmt.Sprintf("page-%d", page+1), m)
		var out []string
		for _, row := range m.Keyboard {
			if len(row) == 3 {
				for _, b := range row {
					out = append(out, fmt.Sprint(b.Text, b.Disabled != nil))
				}
			}
		}
		if len(m.Keyboard[0]) != 2 || !strings.Contains(m.Text, "25 choices, 10 a page. Or reply to this message with the start of a name.") {
			t.Errorf("page %d: %+v", page, m)
		}
		return strings.Join(out, " ")
	}
	for page, want := range []string{
		"‹true 1 of 3false Next ›false", "‹ Backfalse 2 of 3false Next ›false", "‹ Backfalse 3 of 3false ›true",
	} {
		if got := row(page); got != want {
			t.Errorf("page %d has %s, want %s", page, got, want)
		}
	}
}
