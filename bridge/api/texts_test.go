package api_test

import (
	"fmt"
	"iter"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestReferenceOfTexts checks that openapi.yaml describes each text as the table of
// texts does, with its maximum length. It is not parallel, because with -update the
// other tests read the file that it writes.
func TestReferenceOfTexts(t *testing.T) {
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ask := bridge.Ask{CompletedView: &bridge.CompletedView{}}
	option := bridge.Ask{Questions: []bridge.Question{{Options: []bridge.Option{{}}}}}
	want := string(raw)
	for _, x := range []struct {
		schema string
		texts  iter.Seq[bridge.Text]
		path   string // the start of the path of its texts
	}{
		{"Request", ask.Texts(), ""}, {"Interaction", new(bridge.Ask).Texts(), ""}, {"Approval", new(bridge.Approval).Texts(), ""},
		{"Question", new(bridge.Question).Texts(), ""}, {"Option", option.Texts(), "questions[0].options[0]."},
		{"SessionReport", new(bridge.SessionReport).Texts(), ""},
	} {
		before := ""
		for text := range x.texts {
			if name, found := strings.CutPrefix(text.Path, x.path); found && text.About != "" {
				want = withText(t, want, x.schema, name, before, text)
				before = name
			}
		}
	}
	want = regexp.MustCompile(`canonical form \(RFC 8785\) of kind, .* of an approval`).
		ReplaceAllString(want, "canonical form (RFC 8785) of "+coveredTexts())
	if *update {
		if err := os.WriteFile("openapi.yaml", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Error("openapi.yaml is out of date; run make reference")
	}
}

// coveredTexts lists the texts that the request digest covers, by the table of texts.
func coveredTexts() string {
	own, approval := "kind", ""
	ask := bridge.Ask{Approval: &bridge.Approval{}}
	for text := range ask.Texts() {
		name, ofApproval := strings.CutPrefix(text.Path, "approval.")
		switch {
		case !text.Use.Has(bridge.TextCovered):
		case ofApproval:
			approval += name + ", "
		default:
			own += ", " + name
		}
	}
	return own + " and questions, and of the " + strings.TrimSuffix(approval, ", ") + " and input of an approval"
}

// withText returns a description of the API in which a schema describes a text as
// its row does. It adds a text that the schema does not have after the text of the
// row before, if any.
func withText(t *testing.T, doc, schema, name, before string, text bridge.Text) string {
	t.Helper()
	about := strings.ToUpper(text.About[:1]) + text.About[1:] + "."
	if text.Most > 0 && !strings.Contains(about, "at most") {
		unit := "bytes"
		if text.Use.Has(bridge.TextCounted) {
			unit = "characters"
		}
		about += fmt.Sprintf(" At most %d %s.", text.Most, unit)
	}
	start := regexp.MustCompile(`\n    ` + schema + `:\n(?:      .*\n)*?      properties:.*\n`).FindStringIndex(doc)
	if start == nil {
		t.Errorf("openapi.yaml has no schema %s with properties", schema)
		return doc
	}
	from, to := start[1], len(doc)
	if next := regexp.MustCompile(`(?m)^    \w+:$`).FindStringIndex(doc[from:]); next != nil {
		to = from + next[0]
	}
	line := func(name string) *regexp.Regexp {
		return regexp.MustCompile(`(?m)^( +)` + name[strings.LastIndex(name, ".")+1:] + `: \{type: string.*\}\n`)
	}
	row := name[strings.LastIndex(name, ".")+1:] + ": {type: string, description: " + strings.ReplaceAll(strconv.Quote(about), "$", "$$") + "}\n"
	if rows := doc[from:to]; line(name).MatchString(rows) {
		return doc[:from] + line(name).ReplaceAllString(rows, "${1}"+row) + doc[to:]
	}
	indent := "        "
	if at := line(before).FindStringSubmatchIndex(doc[from:to]); before != "" && at != nil {
		indent, from = doc[from+at[2]:from+at[3]], from+at[1]
	}
	return doc[:from] + indent + row + doc[from:]
}
