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
		for text := range x.texts {
			if name, found := strings.CutPrefix(text.Path, x.path); found && text.About != "" {
				want = withText(t, want, x.schema, name, text)
			}
		}
	}
	digest := regexp.MustCompile(`(?m)^        digest: .*canonical form.*$`).FindString(want)
	covered := bridge.Ask{Approval: &bridge.Approval{}}
	for text := range covered.Texts() {
		if text.Use.Has(bridge.TextCovered) && !strings.Contains(digest, strings.TrimPrefix(text.Path, "approval.")) {
			t.Errorf("openapi.yaml does not say that the digest covers %s", text.Path)
		}
	}
	if *update {
		if err := os.WriteFile("openapi.yaml", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Error("openapi.yaml is out of date; run make reference")
	}
}

// withText returns a description of the API in which a schema describes a text as
// its row does.
func withText(t *testing.T, doc, schema, name string, text bridge.Text) string {
	t.Helper()
	about := strings.ToUpper(text.About[:1]) + text.About[1:] + "."
	if text.Most > 0 && !strings.Contains(about, "at most") {
		unit := "bytes"
		if text.Use.Has(bridge.TextCounted) {
			unit = "characters"
		}
		about += fmt.Sprintf(" At most %d %s.", text.Most, unit)
	}
	from := strings.Index(doc, "\n    "+schema+":\n") + 1
	length := regexp.MustCompile(`(?m)^    \w+:$`).FindStringIndex(doc[from+1:])
	to := len(doc)
	if length != nil {
		to = from + 1 + length[0]
	}
	line := regexp.MustCompile(`(?m)^( +` + name[strings.LastIndex(name, ".")+1:] + `: )\{type: string.*\}$`)
	if from == 0 || !line.MatchString(doc[from:to]) {
		t.Errorf("openapi.yaml: %s does not have %s", schema, name)
		return doc
	}
	return doc[:from] + line.ReplaceAllString(doc[from:to], "${1}{type: string, description: "+strings.ReplaceAll(strconv.Quote(about), "$", "$$")+"}") + doc[to:]
}
