package bridge

import (
	"strings"
	"testing"
)

// TestWholeNumber checks that an answer to an integer is digits, and that a text
// with another reading is refused.
func TestWholeNumber(t *testing.T) {
	t.Parallel()
	q := Question{ID: "n", Widget: WidgetNumber, Integer: true}
	for in, want := range map[string]string{
		"7": "7", " 1000 ": "1000", "-3": "-3", "-0": "0", "9007199254740993": "9007199254740993",
		"1.000": "", "1,000": "", "1e3": "", "1E3": "", "1.0": "", "01": "", "+1": "", "": "", "١": "", "1_000": "",
	} {
		got, problem := q.Check(TextAnswer(in), "")
		if string(got.JSON) != want || (problem == "") != (want != "") {
			t.Errorf("%q: %q, %q, want %q", in, got.String(), problem, want)
		}
	}
}

// TestTyped checks that a confirmation counts as phones type it, and that no
// other text does.
func TestTyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, typed string
		ok          bool
	}{
		{"delete prod-db", "delete prod-db", true}, {"delete prod-db", " delete prod-db ", true}, {"delete prod-db", "delete prod—db", true}, {"delete prod--db", "delete prod—db", true},
		{"it's gone", "it’s gone", true}, {`say "x"`, "say “x”", true}, {"wait...", "wait…", true}, {"it’s", "it's", true}, {"a  b", "a b", true}, {"a b", "a\u00a0b", true},
		{"Caf\u00e9 l\u00f6schen", "Cafe\u0301 lo\u0308schen", true}, {"Cafe\u0301", "Caf\u00e9", true}, {"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af", true}, {"Cafe", "Caf\u00e9", false},
		{"prod-db", "prod--db", false}, {"prod-db", "proddb", false}, {"prod", "Prod", false}, {"prod", "", false}, {"prod", "prod2", false},
	} {
		if sameTyped(c.want, c.typed) != c.ok {
			t.Errorf("%q typed as %q: want %t", c.want, c.typed, c.ok)
		}
	}
}

// TestTellApart checks that two options never have the same label.
func TestTellApart(t *testing.T) {
	t.Parallel()
	form := Question{ID: "f", Widget: WidgetForm, Schema: []byte(`{"type":"object","properties":{"a":{"type":"string","enum":["eu1","eu2","us"],"enumNames":["Europe","Europe","America"]},"b":{"oneOf":[{"const":1,"title":"One"},{"const":2,"title":"One"}]}}}`)}
	list := Question{ID: "q", Widget: WidgetSelect, Text: "?", Options: []Option{{Value: "a", Label: "Yes"}, {Value: "b", Label: "Yes "}, {Value: "Yes"}}}
	r := Ask{Prompt: "?", Questions: []Question{form, list}}
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range (Interaction{Ask: r}).Fields() {
		for _, o := range f.Options {
			got = append(got, o.Text())
		}
	}
	want := []string{"Europe (eu1)", "Europe (eu2)", "America", "One (1)", "One (2)", "Yes (a)", "Yes  (b)", "Yes"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
}
