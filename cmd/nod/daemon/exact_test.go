package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// payload is a kind of text that an approval permits.
type payload struct {
	name string
	tool string // bash runs the text, write puts it into a file, and any other tool gets it in a field
	unit string // is repeated
}

// payloads are the texts that cards must show character for character.
var payloads = []payload{
	{"code", "bash", "for f in *.go; do\n\t" +
		"gofmt -l \"$f\" | grep -v '^$' && echo \"<b>$f</b> & more\" # it's \\n\ndone\n"},
	{"prose", "write", "The old table has **2.1 million rows**, and _nothing_ reads it. " +
		"See [the plan](https://example.com/plan?a=1&b=2) for more. "},
	{"many lines", "bash", "ls  \n\n \n  x\n"},
	{"one line", "bash", "echo step; "},
	{"wide characters", "write", "漢字かな交じり文 🙂👩‍👩‍👧 שלום עולם é ñ ﷽ "},
	{"invisible characters", "bash", "echo a\u200bb\u202ec\u2066d\u00a0e\u2028f\r\n"},
	{"fences", "write", "```sh\necho `x` ~~~\n```\n> quote\n- list\n||spoiler|| <@U1> @everyone :smile:\n"},
	{"fields", "deploy", "replace \"a\" with 'b'\n\tand <c> & d; "},
}

// text returns n bytes of a kind, or a little less. It starts with a letter, and
// ends with one.
func (p payload) text(n int) string {
	s := "x" + strings.Repeat(p.unit, n/len(p.unit)+1)
	s = strings.ToValidUTF8(s[:n-1], "")
	return strings.TrimRight(s, " \t\r\n") + "z"
}

// request returns an approval of a text.
func (p payload) request(text string) bridge.Request {
	req := samples.Approval()
	req.Approval.Tool = p.tool
	fields := map[string]string{"command": text}
	switch p.tool {
	case "write":
		fields = map[string]string{"file_path": "notes.txt", "content": text}
	case "deploy":
		fields = map[string]string{"script": text}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(fields) // strings always encode
	req.Approval.Input = b.Bytes()
	return req
}

// inexact describes how the card of a text differs from it. It returns "" if the
// card shows the text character for character.
func (p payload) inexact(r *rig.Rig, at sandbox.Place, text string) string {
	shown, full, err := r.Payload(at)
	if err != nil {
		return err.Error()
	}
	switch {
	case p.tool == "deploy":
		from, to := strings.Index(shown, "{"), strings.LastIndex(shown, "}")
		var fields map[string]string
		if from < 0 || json.Unmarshal([]byte(shown[from:max(from, to)+1]), &fields) != nil || fields["script"] != text {
			return fmt.Sprintf("the field is shown as %.300q", shown)
		}
		return ""
	case shown == "" && len(text) <= 60: // the headline has it
		if !strings.Contains(rig.ShownIn(r.Sandbox.Message(at)), text) {
			return fmt.Sprintf("the headline is %.300q", rig.ShownIn(r.Sandbox.Message(at)))
		}
		return ""
	case full:
		if text = "    " + strings.ReplaceAll(text, "\n", "\n    "); strings.Contains(shown, "\n"+text+"\n") {
			return ""
		}
	case at.Service == "telegram": // the service itself replaces tabs
		text = strings.ReplaceAll(text, "\t", " ")
	}
	if shown == text {
		return ""
	}
	n := 0
	for n < min(len(shown), len(text)) && shown[n] == text[n] {
		n++
	}
	return fmt.Sprintf("%d bytes are shown as %d; they differ at %d: %.60q and %.60q", len(text), len(shown), n, text[n:], shown[n:])
}

// TestShownIsDecided checks that texts of every kind and size are shown character
// for character on each service: on the card, in its file, or in its dialog, and
// that this is what is decided. A text that a service cannot show can only be
// denied there. With NOD_TEXTS, every kind comes in every size, and the services
// enforce their rate limits.
func TestShownIsDecided(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s), Limits: allTexts()})
			refused, asked := 0, 0
			for size, every := range map[int]int{10: 1, 1_000: 1, 8_000: 1, 60_000: 3, 160_000: 8} {
				for n, p := range payloads {
					if n%every != 0 && !allTexts() {
						continue
					}
					asked++
					if !shownIsDecided(r, s, p, size) {
						refused++
					}
				}
			}
			r.NoComplaints()
			t.Logf("%d of %d texts are too long for %s", refused, asked, s)
		})
	}
}

// shownIsDecided asks for one text and approves it. It returns false if the text
// is refused.
func shownIsDecided(r *rig.Rig, s string, p payload, size int) bool {
	r.T.Helper()
	what := fmt.Sprintf("%s of %d bytes on %s", p.name, size, s)
	text := p.text(size)
	req := p.request(text)
	rec, err := r.Agent.Open(r.Ctx, req, "")
	if err != nil {
		r.T.Errorf("%s: %v", what, err)
		return false
	}
	a := rig.Asked{R: r, Record: rec}
	r.Eventually("the card is posted: "+what, func() bool {
		a.Record, err = r.Daemons[0].Engine().Get(r.Ctx, rec.Interaction.ID)
		return err == nil && len(a.Messages)+len(a.Failures) == 1
	})
	if len(a.Failures) > 0 {
		r.T.Errorf("%s: %v", what, a.Failures)
		return true
	}
	read(a, s)
	if tooLong(a, s, what, size) {
		return false
	}
	if problem := p.inexact(r, a.On(s), text); problem != "" {
		r.T.Errorf("%s: %s", what, problem)
	}
	r.Approve("ana", a.On(s))
	got := a.End()
	decided := got.Interaction.Approval.Input
	if got.State != bridge.StateApproved || got.Response.Digest != a.Interaction.Digest || !sameJSON(decided, req.Approval.Input) {
		r.T.Errorf("%s: it is %s, and the agent gets %.100s", what, got.State, decided)
	}
	return true
}

// allTexts reports whether the tests of texts take all of them.
func allTexts() bool { return os.Getenv("NOD_TEXTS") != "" }

// tooLong reports whether a card says that its text is too long for the service,
// and denies it there.
func tooLong(a rig.Asked, s, what string, size int) bool {
	a.R.T.Helper()
	if !strings.Contains(a.Text(s), "too long for Slack") {
		return false
	}
	if s != "slack" || size < 160_000 || approvable(s, a.R.Sandbox.Message(a.On(s))) {
		a.R.T.Errorf("%s: %s", what, a.Text(s))
	}
	a.R.Press("ana", a.On(s), "Deny")
	if got := a.End().State; got != bridge.StateDenied {
		a.R.T.Errorf("%s: it is %s", what, got)
	}
	return true
}

// sameJSON reports whether two objects of texts are equal.
func sameJSON(a, b json.RawMessage) bool {
	var x, y map[string]string
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || len(x) != len(y) {
		return false
	}
	for k, v := range x {
		if y[k] != v {
			return false
		}
	}
	return true
}
