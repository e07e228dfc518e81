package config

import "testing"

// TestProblem checks that the errors of the YAML decoder name no type of Go.
func TestProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"listen: a\nchanel: x\n":                `line 2: unknown key "chanel"`,
		"listen: a\nlisten: b\n":                `line 2: mapping key "listen" already defined at line 1`,
		"routes: 7\n":                           `line 1: a mapping is required, not "7"`,
		"routes: {a: []}\n":                     `line 1: a mapping is required, not a list`,
		"max_connections: many\n":               `line 1: a number is required, not "many"`,
		"console: {enabled: sometimes}\n":       `line 1: true or false is required, not "sometimes"`,
		"routes: {a: {to: x}}\n":                `line 1: a list is required, not "x"`,
		"slack: [\n":                            "line 1: did not find expected node content",
		"retention: soon\n":                     `line 1: invalid duration "soon" (such as 90s, 5m, 1h30m, 30d or 2w)`,
		"chanel: x\nrisks: 7\nlog_level: [a]\n": "line 1: unknown key \"chanel\"\nline 2: a list is required, not \"7\"\nline 3: text is required, not a list",
	} {
		if _, err := Parse([]byte(text), ""); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}
