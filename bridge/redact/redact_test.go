package redact_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge/redact"
)

// corpus are credentials as services issue them; none was ever valid.
var corpus = map[string]string{
	"aws":        "AKIA" + "IOSFODNN7EXAMPLE",
	"github":     "ghp_" + strings.Repeat("a1B2", 9),
	"github-pat": "github_pat_" + strings.Repeat("11ABCDEFG0", 8),
	"gitlab":     "glpat-" + strings.Repeat("Zx9_", 5),
	"slack-bot":  "xoxb-" + "123456789012-123456789012-" + strings.Repeat("AbC", 8),
	"slack-app":  "xapp-" + "1-A012345-123456789-" + strings.Repeat("0f", 20),
	"slack-hook": "hooks.slack.com/services/" + "T000/B000/" + strings.Repeat("X", 24),
	"discord":    "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
	"telegram":   "110201543:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
	"stripe":     "sk_live_" + strings.Repeat("4eC3", 6),
	"openai":     "sk-proj-" + strings.Repeat("aB3d", 10),
	"anthropic":  "sk-ant-" + "api03-" + strings.Repeat("Qw1-", 20),
	"google":     "AIza" + strings.Repeat("SyD-9tS", 5),
	"jwt":        "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"npm":        "npm_" + strings.Repeat("a1B2", 9),
	"pypi":       "pypi-" + strings.Repeat("AgEI", 15),
	"vault":      "hvs." + strings.Repeat("CAES", 8),
	"hugging":    "hf_" + strings.Repeat("abcD", 9),
	"sendgrid":   "SG." + strings.Repeat("a1", 11) + "." + strings.Repeat("b2", 21),
	"age":        "AGE-SECRET-KEY-1" + strings.Repeat("QPZRY9X8GF", 6),
	"webhook":    "whsec_" + strings.Repeat("MfKQ", 8),
	"ocean":      "dop_v1_" + strings.Repeat("0123456789abcdef", 4),
	"own":        "an-exact-value-of-the-config",
	"pattern":    "ACME-12345678",
	"pem":        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nabc/def+ghi=\n-----END RSA PRIVATE KEY-----",
}

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New([]string{`ACME-\d{8}`}, []string{"an-exact-value-of-the-config", "short"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNothingSurvives: no credential of the corpus survives in any surrounding
// text, and what is redacted stays as it is.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(keys(corpus)).Draw(t, "credential")
		secret := corpus[name]
		around := rapid.SampledFrom([]string{"", " ", "\n", "'", `"`, "`", "(", "=", ": ", ",", "Use ", "token=", "/", "é", "https://x.example/?key="}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", " ", "\n", "'", `"`, ")", ", then", "; ls", "\t", " é", "&b=1"}).Draw(t, "after")
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab =:'\"\n$-/")), 0, 30, -1).Draw(t, "text") + " " + around + secret + after
		out := r.Redact(text)
		if strings.Contains(out, secret) {
			t.Fatalf("%s survives in %q", name, out)
		}
		if again := r.Redact(out); again != out {
			t.Fatalf("%q became %q", out, again)
		}
	})
}

func keys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// What only its place makes a secret.
func TestInPlace(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for in, want := range map[string]string{
		"curl -u admin:hunter22 https://x":                                              "curl -u admin:[redacted] https://x",
		"psql postgres://app:s3cretpw@db:5432/x":                                        "psql postgres://app:[redacted]@db:5432/x",
		"redis-cli -u redis://:p4ssword@host":                                           "redis-cli -u redis://:[redacted]@host",
		"export DB_PASSWORD=hunter22 && make":                                           "export DB_PASSWORD=[redacted] && make",
		`{"api_key": "abcd1234", "n": 1}`:                                               `{"api_key": "[redacted]", "n": 1}`,
		"deploy --token abcd1234 --env prod":                                            "deploy --token [redacted] --env prod",
		"deploy --password='abcd1234'":                                                  "deploy --password='[redacted]'",
		"-H 'Authorization: Bearer abc.def-ghi_jkl'":                                    "-H 'Authorization: Bearer [redacted]'",
		"Authorization: Basic dXNlcjpwYXNz":                                             "Authorization: Basic [redacted]",
		"sshpass -p hunter22 ssh x":                                                     "sshpass -p [redacted] ssh x",
		"mysql -u root -phunter22 db":                                                   "mysql -u root -p[redacted] db",
		"PASSWORD=$SECRET ./run":                                                        "PASSWORD=$SECRET ./run",
		"git push https://ghuser:pa55w0rd@github.com/x/y":                               "git push https://ghuser:[redacted]@github.com/x/y",
		"short words stay short":                                                        "short words stay short",
		"the password was changed; tokens: 3; max_tokens=100":                           "the password was changed; tokens: 3; max_tokens=100",
		"git commit -m 'rotate the token' sha 0123456789abcdef0123456789abcdef01234567": "git commit -m 'rotate the token' sha 0123456789abcdef0123456789abcdef01234567",
		"kubectl get secret db -o yaml":                                                 "kubectl get secret db -o yaml", "https://example.com/a:b@c": "https://example.com/a:b@c",
	} {
		if got := r.Redact(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	for name, want := range map[string]bool{"password": true, "DB_PASSWORD": true, "apiKey": true, "clientSecret": true, "access_token": true, "Authorization": true, "path": false, "max_tokens": false, "token_count": false, "command": false} {
		if r.Secret(name) != want {
			t.Errorf("field %s: %v", name, !want)
		}
	}
	for _, bad := range []string{"(", "a*"} {
		if _, err := redact.New([]string{bad}, nil); err == nil {
			t.Errorf("the pattern %q is taken", bad)
		}
	}
}

func FuzzRedact(f *testing.F) {
	r := redactor(f)
	for _, s := range corpus {
		f.Add("x "+s+" y", s)
	}
	f.Fuzz(func(t *testing.T, text, _ string) {
		once := r.Redact(text)
		if again := r.Redact(once); again != once {
			t.Fatalf("%q became %q, then %q", text, once, again)
		}
	})
}
