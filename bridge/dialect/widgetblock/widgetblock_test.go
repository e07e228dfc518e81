package widgetblock_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
	"github.com/nodbridge/nod/bridge/dialect/widgetblock"
)

var widgets = map[string]struct {
	in     string
	answer bridge.Answer
}{
	"form": {
		`{"widgetId":"w1","type":"form","message":"Fill in","submitted":false,"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string","title":"Your name"},"ok":{"type":"boolean"}}}}`,
		bridge.JSONAnswer(`{"name":"Ana","ok":true}`),
	},
	"selection": {
		`{"widgetId":"w2","type":"selection","message":"Pick one","submitted":false,"options":[{"value":"a","label":"Apple"},{"value":"b","label":"Banana","description":"yellow"}]}`,
		bridge.TextAnswer("a"),
	},
	"selection-multi": {
		`{"widgetId":"w3","type":"selection","message":"Pick some","submitted":false,"options":[{"value":"a","label":"Apple"},{"value":"b","label":"Banana"}],"multi":true}`,
		bridge.ListAnswer("a", "b"),
	},
	"confirmation": {
		`{"widgetId":"w4","type":"confirmation","message":"Sure?","submitted":false}`, bridge.TextAnswer("false"),
	},
	"plan_review-approve": {
		`{"widgetId":"w5","type":"plan_review","message":"Review","submitted":false,"planContent":"# Plan"}`,
		bridge.JSONAnswer(`{"decision":"approve"}`),
	},
	"plan_review-changes": {
		`{"widgetId":"w6","type":"plan_review","message":"Review","submitted":false,"planContent":"# Plan"}`,
		bridge.JSONAnswer(`{"decision":"request_changes","feedback":"more"}`),
	},
	"feedback": {
		`{"widgetId":"w7","type":"feedback","message":"Comment","submitted":false,"items":[{"id":"i1","content":"one"},{"id":"i2","content":"two"}]}`,
		bridge.JSONAnswer(`{"i1":"good","i2":""}`),
	},
	"action_selection": {
		`{"widgetId":"w8","type":"action_selection","message":"Next?","submitted":false,"actions":[{"id":"retry","label":"Try again","description":"once"},{"id":"stop","label":"Give up"}]}`,
		bridge.TextAnswer("stop"),
	},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "golden")
	for name, c := range widgets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := widgetblock.Decode([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Request()
			if err != nil {
				t.Fatal(err)
			}
			rec := dialecttest.Record(t, r, bridge.Response{Answers: map[string]bridge.Answer{"value": c.answer}})
			s, err := p.Submit(rec)
			if err != nil {
				t.Fatal(err)
			}
			message, err := s.UserMessage()
			if err != nil {
				t.Fatal(err)
			}
			block, err := p.Answered(s).Block()
			if err != nil {
				t.Fatal(err)
			}
			book.Add(t, name, c.in, message+"\n"+block, r)
			// The block is the widget as it arrived, and a front end receives
			// the same.
			if block, err := p.Block(); err != nil || block != "```widget\n"+c.in+"\n```" {
				t.Errorf("the block is %s, %v", block, err)
			}
			if again, ok := widgetblock.FromRecord(rec); !ok || cmp.Diff(p, again) != "" {
				t.Errorf("from the record (-want +got):\n%s", cmp.Diff(p, again))
			}
			reply, err := widgetblock.DecodeSubmission(rec.Interaction, s)
			if err != nil || cmp.Diff(c.answer, reply.Answers["value"]) != "" {
				t.Errorf("read back: %+v, %v", reply, err)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	text := "Before\n```go\n```widget inside another\n```\n\n```widget\n" + widgets["confirmation"].in + "\n```\nbetween\n```widget\n" + widgets["form"].in + "\n```"
	got, err := widgetblock.Blocks(text)
	if err != nil || len(got) != 2 || got[0].WidgetID != "w4" || got[1].WidgetID != "w1" {
		t.Errorf("%+v, %v", got, err)
	}
	for in, want := range map[string]string{
		"```widget\n{}\n```": "widget block 1: widgetId: required",
		"```widget\n" + widgets["form"].in + "\n```\n```widget\nnonsense\n```":                                "widget block 2",
		"```widget\n{\"widgetId\":\"w\",\"type\":\"confirmation\",\"message\":\"?\",\"submitted\":true}\n```": "has already been submitted",
		"```widget\n{": "not closed",
		"```widget\n{\"widgetId\":\"w\",\"type\":\"slider\",\"message\":\"?\"}\n```":                                                                           "Unknown widget type",
		"```widget\n" + widgets["form"].in + "\n```\n```widget\n" + widgets["form"].in + "\n```":                                                               "duplicate ID",
		"```widget\n{\"widgetId\":\"w\",\"type\":\"form\",\"message\":\"?\",\"schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"file\"}}}}\n```": `widget block 1: schema.properties.a.type: "file" is not supported`,
	} {
		if _, err := widgetblock.Blocks(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	for _, c := range widgets {
		f.Add("text\n```widget\n"+c.in+"\n```", `{"confirmed":true}`)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		blocks, err := widgetblock.Blocks(text)
		if err != nil {
			return
		}
		for _, p := range blocks {
			r, err := p.Request()
			if err == nil {
				err = r.Normalize()
			}
			if err != nil {
				t.Errorf("a block that was returned cannot be shown: %v", err)
				continue
			}
			i := bridge.Interaction{Ask: bridge.Ask{
				Questions: r.Questions, ToolName: r.ToolName, ToolCall: r.ToolCall, Prompt: r.Prompt,
			}}
			_, _ = widgetblock.DecodeSubmission(i, widgetblock.Submission{WidgetID: p.WidgetID, Value: []byte(value)}) // checks that it does not panic
		}
	})
}

// TestAround checks that people see the whole message with each of its widgets,
// and that one block that cannot be shown does not hide the others.
func TestAround(t *testing.T) {
	t.Parallel()
	const shall = "```widget\n{\"widgetId\":\"w1\",\"type\":\"confirmation\",\"message\":\"Shall I continue?\"}\n```"
	const which = "```widget\n{\"widgetId\":\"w2\",\"type\":\"selection\",\"message\":\"Which?\",\"options\":[{\"value\":\"a\",\"label\":\"A\"}]}\n```"
	const slider = "```widget\n{\"widgetId\":\"w3\",\"type\":\"slider\",\"message\":\"How much?\"}\n```"
	for _, c := range []struct {
		name, text string
		want       []string // prompts
		wrong      string
	}{
		{"before", "Dropping 3 tables…\n" + shall, []string{"Shall I continue?\n\nDropping 3 tables…"}, ""},
		{"after", shall + "\nThere is no backup.\n", []string{"Shall I continue?\n\nThere is no backup."}, ""},
		{"around two", "First.\n\n" + shall + "\nthen\n" + which + "\nlast", []string{"Shall I continue?\n\nFirst.\n\nthen\n\nlast", "Which?\n\nFirst.\n\nthen\n\nlast"}, ""},
		{"code", "```sql\nDROP TABLE a;\n```\n" + shall, []string{"Shall I continue?\n\n```sql\nDROP TABLE a;\n```"}, ""},
		{"nothing", shall, []string{"Shall I continue?"}, ""},
		{"unusable block", slider + "\n" + shall, []string{"Shall I continue?\n\n```\n{\"widgetId\":\"w3\",\"type\":\"slider\",\"message\":\"How much?\"}\n```"}, "widget block 1: Unknown widget type"},
		{"open block", shall + "\n```widget\n{", []string{"Shall I continue?\n\n```\n{\n```"}, "widget block 2: not closed"},
		{"repeated block", shall + "\n" + shall, []string{"Shall I continue?"}, "widget block 2: widgetId: duplicate ID"},
		{"long text", strings.Repeat("x", bridge.MaxPrompt) + "\n" + shall, nil, "widget block 1: the message has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			blocks, err := widgetblock.Blocks(c.text)
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
			if len(blocks) != len(c.want) {
				t.Fatalf("%d widgets, want %d", len(blocks), len(c.want))
			}
			for n, p := range blocks {
				r, err := p.Request()
				if err != nil || r.Normalize() != nil {
					t.Fatal(err)
				}
				got := r.Prompt
				if r.Questions[0].Text != "" {
					got = r.Questions[0].Text + "\n\n" + got
				}
				if !strings.HasPrefix(got, c.want[n]) {
					t.Errorf("%q, want %q", got, c.want[n])
				}
				rec := bridge.Record{Interaction: bridge.Interaction{Ask: r.Ask}}
				if front, ok := widgetblock.FromRecord(rec); !ok || front.Message != p.Message {
					t.Errorf("front ends read %q, want %q", front.Message, p.Message)
				}
			}
		})
	}
}
