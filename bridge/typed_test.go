package bridge

import "testing"

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
