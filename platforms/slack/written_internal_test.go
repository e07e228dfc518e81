package slack

import "testing"

// TestWritten checks that an answer is what the person typed, and not what
// Slack made of it.
func TestWritten(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"&lt;b&gt; &amp;amp;":                      "<b> &amp;",
		"see <https://a.example/?b=1&amp;c=2>":     "see https://a.example/?b=1&c=2",
		"<http://a.example|a.example>":             "http://a.example",
		"<mailto:ana@example.com|ana@example.com>": "ana@example.com",
		"ask <@U1> in <#C1|ops>":                   "ask <@U1> in <#C1|ops>",
		"<>":                                       "<>",
	} {
		if got := written(sent); got != want {
			t.Errorf("%q is read as %q, want %q", sent, got, want)
		}
	}
}
